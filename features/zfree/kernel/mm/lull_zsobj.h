/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For mm/zsmalloc.c: the class of an object among the bits of its location.
 *
 *	PFN | class index | ... | number of the object in its zspage
 *
 * An object never changes its class: migration changes the PFN alone, and
 * compaction moves objects inside a class. So whoever reads a location without
 * a lock may believe the class in it, and nothing else.
 */

/* For the number of an object; zspages have no more of them than that. */
#define OBJ_NR_BITS	(const_ilog2((ZS_MAX_PAGES_PER_ZSPAGE << PAGE_SHIFT) / \
				     32 - 1) + 1)
/* As many as the field `class` of struct zspage has. */
#define OBJ_CLASS_BITS	(CLASS_BITS + 1)

/* 32 bits have no room for it, nor have PFNs of 64: these keep the lock. */
#define OBJ_HAS_CLASS	(IS_ENABLED(CONFIG_LULL_ZFREE) && \
			 OBJ_NR_BITS + OBJ_CLASS_BITS <= OBJ_INDEX_BITS)
#define OBJ_CLASS_SHIFT	(OBJ_HAS_CLASS ? OBJ_INDEX_BITS - OBJ_CLASS_BITS : \
			 OBJ_INDEX_BITS)
#define OBJ_NR_MASK	((_AC(1, UL) << OBJ_CLASS_SHIFT) - 1)

static inline unsigned long obj_class_bits(unsigned int class_idx)
{
	return OBJ_HAS_CLASS ? (unsigned long)class_idx << OBJ_CLASS_SHIFT : 0;
}

static inline unsigned int obj_class_idx(unsigned long obj)
{
	return (obj & OBJ_INDEX_MASK) >> OBJ_CLASS_SHIFT;
}
