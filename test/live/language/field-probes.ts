/** Commands with a field that some versions do not have. */
import type { Document } from '@shardlab/bson'
import type { Language } from '@shardlab/query'
import type { Probe, Refusal } from './probe.js'

const commands: Readonly<Record<string, Document>> = {
  aggregate: { aggregate: 'c', pipeline: [], cursor: {} },
  collMod: { collMod: 'c' },
  count: { count: 'c' },
  create: { create: 'created' },
  createRole: { createRole: 'reader', privileges: [], roles: [] },
  createUser: { createUser: 'ann', pwd: 'secret', roles: [] },
  createIndexes: { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] },
  delete: { delete: 'c', deletes: [{ q: { a: 'none' }, limit: 0 }] },
  distinct: { distinct: 'c', key: 'a' },
  find: { find: 'c' },
  findAndModify: { findAndModify: 'c', query: { _id: 'none' }, update: { $set: { a: 1 } } },
  insert: { insert: 'c', documents: [{}] },
  rolesInfo: { rolesInfo: 1 },
  updateRole: { updateRole: 'reader', roles: [] },
  updateUser: { updateUser: 'ann', roles: [] },
  usersInfo: { usersInfo: 1 },
  update: { update: 'c', updates: [{ q: { a: 'none' }, u: { $set: { a: 1 } }, multi: true }] },
}

/** @param name such as `find.let` or `update.updates.hint` */
export function fieldProbe(name: string): Probe {
  const [command, ...path] = name.split('.') as [string, ...string[]]
  const field = path.pop()!
  const list = path[0]
  const plain = commands[command]!
  const used =
    list === undefined
      ? { ...plain, [field]: null }
      : list === 'index'
        ? { ...plain, index: { name: '_id_', [field]: true } }
        : { ...plain, [list]: [{ ...plain[list][0], [field]: null }] }
  const owner = [command, ...path].join('.')
  return { command: used, refusal: (language) => refusalOf(language, command, owner, field) }
}

function refusalOf({ unknownFields }: Language, command: string, owner: string, field: string): Refusal {
  switch (unknownFields[owner] ?? unknownFields[command] ?? unknownFields['*']) {
    case 'ignored':
      if (owner === 'collMod.index') return { code: 72, message: /^no expireAfterSeconds/ }
      return { code: null, message: /^$/ }
    case 'unrecognized':
      return { code: 9, message: new RegExp(`^unrecognized field '${field}'$`) }
    case 'quoted':
      return { code: 9, message: new RegExp(`^Failed to parse: \\{ .* \\}\\. Unrecognized field '${field}'\\.$`) }
    case 'invalid':
      return { code: 2, message: new RegExp(`^Invalid field specified for ${command} command: ${field}$`) }
    case 'option':
      return { code: 72, message: new RegExp(`^The field '${field}' is not a valid collection option\\. Options: `) }
    case 'modification':
      return { code: 72, message: new RegExp(`^unknown option to collMod: ${field}$`) }
    case 'modification without code':
      return { code: 0, message: new RegExp(`^unknown option to collMod: ${field}$`) }
    case 'argument':
      return { code: 2, message: new RegExp(`^"${field}" is not a valid argument to ${command}$`) }
    case 'unnamed':
      return { code: 40415, message: new RegExp(`^BSON field '${field}' is an unknown field\\.$`) }
    default:
      return { code: 40415, message: new RegExp(`^BSON field '${owner}\\.${field}' is an unknown field\\.$`) }
  }
}
