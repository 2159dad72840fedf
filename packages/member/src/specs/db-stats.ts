export const dbStatsFields = { scale: 'number', freeStorage: 'bool' } as const
