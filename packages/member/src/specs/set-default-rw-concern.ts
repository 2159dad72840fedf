export const setDefaultRWConcernFields = { defaultReadConcern: 'object', defaultWriteConcern: 'object' } as const
