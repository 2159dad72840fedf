/**
 * For clients connected directly to the config server. Server: drop_database_cmd.cpp,
 * create_collection.cpp.
 */
import { CommandError } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { type Entrant } from '@shardlab/node'
import { internalDatabases } from '@shardlab/query'

const creatingCommands: ReadonlySet<string> = new Set(['create', 'createIndexes'])

/**
 * @param ns a database for commands on databases
 * @throws CommandError 20 IllegalOperation for dropping the catalog, and those of {@link
 *   checkCreate}
 */
export function checkClientCommand(ns: string, entrant: Entrant): void {
  const { command } = entrant.operation
  if (command === 'dropDatabase' && ns === 'config')
    throw new CommandError('IllegalOperation', "Cannot drop 'config' database if mongod started with --configsvr")
  if (creatingCommands.has(command)) checkCreate(ns, entrant)
}

/** @throws CommandError 73 InvalidNamespace, before 5.0 14037, for user collections */
export function checkCreate(ns: string, { host }: Pick<Entrant, 'host'>): void {
  if (internalDatabases.has(databaseNameOf(ns))) return
  throw host.behaviours.configServerNamesRefusedCollections
    ? new CommandError('InvalidNamespace', `Can't create user databases on a --configsvr instance ${ns}`)
    : new CommandError(14037, "can't create user databases on a --configsvr instance")
}

export function mayWrite({ host, operation }: Pick<Entrant, 'host' | 'operation'>): boolean {
  return host.table.find(operation.command, host.behaviours)?.access !== 'read'
}
