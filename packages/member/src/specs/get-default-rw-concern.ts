export const getDefaultRWConcernFields = { inMemory: 'bool' } as const
