export const convertToCappedFields = { size: 'number!' } as const
