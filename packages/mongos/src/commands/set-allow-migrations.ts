import { configAddress, isGenericArgument, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, fieldsOf } from '@shardlab/bson'
import { databaseNameOf, onNamedNamespace } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'

/** Server: cluster_set_allow_migrations_command.cpp, set_allow_migrations_coordinator.cpp. */
export const setAllowMigrations: CommandRow<MongosInvocation> = {
  name: 'setAllowMigrations',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('moveChunk'),
  adminOnly: true,
  behaviour: 'migrationsCanBeForbidden',
  manual: 'reference/command/setAllowMigrations',
  status: 'full',
  summary: 'Allows or forbids migrations of the chunks of a collection.',
  fields: { allowMigrations: 'strictBool!' },
  unknownFields: 'ignored',
  async run({ args, body, host, operation }) {
    if (host.behaviours.setAllowMigrationsIsStrict) refuseUnknown(body)
    const ns = args.targetString()
    const db = databaseNameOf(ns)
    if ((await host.catalog.database(db, operation)) === null)
      throw new CommandError('NamespaceNotFound', `database ${db} not found`)
    const request = { ns, allowMigrations: args.bool('allowMigrations')! }
    raise((await host.remote.request(configAddress, 'config.set-allow-migrations', request, operation)).error)
    return new DocumentWriter(192)
  },
}

/** @throws CommandError 40415 */
function refuseUnknown(body: Uint8Array): void {
  for (const [name] of fieldsOf(body).slice(1)) {
    if (name !== 'allowMigrations' && !isGenericArgument(name))
      throw new CommandError(40415, `BSON field 'setAllowMigrations.${name}' is an unknown field.`)
  }
}
