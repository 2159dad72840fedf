export const dataSizeFields = {
  keyPattern: 'object',
  min: 'object',
  max: 'object',
  estimate: 'bool',
  maxSize: 'number',
  maxObjects: 'number',
} as const
