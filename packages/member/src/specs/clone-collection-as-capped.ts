export const cloneCollectionAsCappedFields = { toCollection: 'string!', size: 'number!', temp: 'bool' } as const
