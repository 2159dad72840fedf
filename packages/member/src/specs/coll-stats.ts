export const collStatsFields = {
  scale: 'any',
  verbose: 'any',
  validationLevel: 'string',
  waitForLock: 'any',
  numericOnly: 'any',
} as const
