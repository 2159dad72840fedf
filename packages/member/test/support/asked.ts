/** Questions to the functions by which commands ask for privileges. */
import { CommandArguments, type AccessQuestion, type CommandPrivileges } from '@shardlab/actor'
import {
  accessOf,
  anyNormalResource,
  clusterResource,
  databaseResource,
  exactResource,
  privilege,
  PrivilegeSet,
} from '@shardlab/auth'
import { CommandError, encode, firstFieldName, UUID, type Document } from '@shardlab/bson'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { accessRulesOf } from '../../src/access/access-rules.js'
import { applyOpsPrivileges } from '../../src/access/apply-ops-privileges.js'
import { isAllowed } from '../../src/access/authorize.js'
import { collModPrivileges } from '../../src/access/definition-privileges.js'
import { onNamespace } from '../../src/access/needs.js'
import { updatePrivileges } from '../../src/access/write-privileges.js'

export interface Asked {
  readonly by: CommandPrivileges
  readonly body: Document | Uint8Array
  /** Default `shop`. */
  readonly db?: string
  /** Actions on `cluster`, on a database, on a collection, or on `any`: all normal resources. */
  readonly may?: Readonly<Record<string, readonly string[]>>
  readonly sequences?: AccessQuestion['sequences']
  /** Default 8.0. */
  readonly version?: EmulatedVersion
  readonly isRouter?: boolean
}

function resourceOf(name: string) {
  if (name === 'cluster') return clusterResource
  if (name === 'any') return anyNormalResource
  const dot = name.indexOf('.')
  return dot < 0 ? databaseResource(name) : exactResource(name.slice(0, dot), name.slice(dot + 1))
}

/** Of `shop.secrets`. */
export const secretUuid = new UUID('00112233-4455-6677-8899-aabbccddeeff')
const namespaces = new Map([[secretUuid.toString(), 'shop.secrets']])

const rows: Readonly<Record<string, CommandPrivileges>> = {
  applyOps: applyOpsPrivileges,
  collMod: collModPrivileges,
  dropIndexes: onNamespace('dropIndex'),
  find: onNamespace('find'),
  update: updatePrivileges,
}

/** Whether the command may run, or the name of the error. */
export function answerTo({
  by,
  body,
  db = 'shop',
  may = {},
  sequences = [],
  version = '8.0',
  isRouter = false,
}: Asked): boolean | string {
  const rules = accessRulesOf(behavioursOf(version))
  const granted = Object.entries(may).map(([name, actions]) => privilege(resourceOf(name), actions))
  const bytes = body instanceof Uint8Array ? body : encode(body)
  try {
    return isAllowed(by, {
      command: firstFieldName(bytes)!,
      db,
      body: bytes,
      args: CommandArguments.parse(bytes, null),
      sequences,
      access: accessOf(new PrivilegeSet(granted, rules), [], []),
      rules,
      isRouter,
      ownsOperation: () => false,
      namespaceOfUuid: (uuid) => namespaces.get(new UUID(Buffer.from(uuid)).toString()) ?? null,
      privilegesOf: (name) => rows[name],
    })
  } catch (error) {
    if (error instanceof CommandError) return error.codeName
    throw error
  }
}

/** A document that has a field twice: `a` and `b` of equal lengths become `a`. */
export function twice(document: Document, a: string, b: string): Uint8Array {
  const bytes = Buffer.from(encode(document))
  const at = bytes.indexOf(`${b}\0`)
  if (b !== '' && at >= 0) bytes.write(a, at, 'latin1')
  return bytes
}
