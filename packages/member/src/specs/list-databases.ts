export const listDatabasesFields = { filter: 'object', nameOnly: 'bool', authorizedDatabases: 'bool' } as const
