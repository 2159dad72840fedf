export const dropIndexesFields = { index: 'any!', collectionUUID: 'binary' } as const
