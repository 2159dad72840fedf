export const fsyncFields = { lock: 'any', fsyncLockAcquisitionTimeoutMillis: 'number', async: 'any' } as const
