/** Collections that keep their names. Server: validateNamespacesForRenameCollection. */
import { CommandError } from '@shardlab/bson'
import { splitNamespace } from '@shardlab/member'

/** Of users, roles, views and functions, in any database. */
const fixedNames: readonly string[] = ['system.views', 'system.js', 'system.users', 'system.roles']

/** @throws CommandError 20 IllegalOperation */
export function refuseFixedNames(from: string, to: string): void {
  if (from === 'admin.system.version')
    throw new CommandError(
      'IllegalOperation',
      'renaming the server configuration collection (admin.system.version) is not allowed',
    )
  const names = [from, to].map((ns) => splitNamespace(ns)[1])
  const fixed = fixedNames.find((name) => names.includes(name))
  if (fixed !== undefined)
    throw new CommandError('IllegalOperation', `renaming ${fixed} collection or renaming to ${fixed} is not allowed`)
}
