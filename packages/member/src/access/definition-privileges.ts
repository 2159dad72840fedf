/**
 * Commands on collections. Server: authorization_checks.cpp, rename_collection_common.cpp.
 */
import type { AccessQuestion } from '@shardlab/actor'
import { BsonType, CommandError, findField } from '@shardlab/bson'
import { allowsViewPipeline, documentsIn } from './pipeline-privileges.js'
import { holdsOn, holdsOnCluster, holdsOnDatabase, isTrueIn, nameIn, namedBy, textIn } from './needs.js'

/** For a view, `insert` is not enough. */
export function createPrivileges(question: AccessQuestion): boolean {
  const { body } = question
  const ns = namedBy(question)
  const mayCreate = holdsOn(question, ns, 'createCollection')
  if (textIn(body, 'viewOn') !== undefined) return mayCreate && mayDefineView(question, ns)
  if (isTrueIn(body, 'capped') && !holdsOn(question, ns, 'convertToCapped')) return false
  return mayCreate || holdsOn(question, ns, 'insert')
}

/**
 * The old pipeline on another collection would show as much as another pipeline on the old one.
 * @throws CommandError 72 InvalidOptions for one of the two alone
 */
export function collModPrivileges(question: AccessQuestion): boolean {
  const { body } = question
  const ns = namedBy(question)
  if (!holdsOn(question, ns, 'collMod')) return false
  const [viewOn, pipeline] = [findField(body, 'viewOn'), findField(body, 'pipeline')]
  if ((viewOn === undefined) !== (pipeline === undefined))
    throw new CommandError(
      'InvalidOptions',
      "Must specify both 'viewOn' and 'pipeline' when modifying a view and auth is enabled",
    )
  if (viewOn === undefined) return true
  // A null counts as absent when the command runs.
  return viewOn.type === BsonType.string && pipeline!.type === BsonType.array && mayDefineView(question, ns)
}

/** A client that cannot read the view may let it show anything. */
function mayDefineView(question: AccessQuestion, ns: string): boolean {
  if (!holdsOn(question, ns, 'find')) return true
  const pipeline = findField(question.body, 'pipeline')
  const stages = pipeline?.type === BsonType.array ? documentsIn(pipeline) : []
  return allowsViewPipeline(question, question.db, textIn(question.body, 'viewOn')!, stages)
}

/**
 * Within a database one action is enough, unless the client could read the documents only after the
 * rename.
 */
export function renameCollectionPrivileges(question: AccessQuestion): boolean {
  const { body } = question
  const from = nameIn(question)
  const to = textIn(body, 'to') ?? ''
  const db = databaseOf(from)
  if (db === databaseOf(to) && holdsOnDatabase(question, db, 'renameCollectionSameDB')) {
    if (holdsOn(question, from, 'find') || !holdsOn(question, to, 'find')) return true
  }
  if (!holdsOn(question, from, 'find', 'dropCollection')) return false
  const drops = isTrueIn(body, 'dropTarget') ? ['dropCollection'] : []
  return holdsOn(question, to, 'insert', 'createIndex', ...drops)
}

const databaseOf = (ns: string): string => (ns.includes('.') ? ns.slice(0, ns.indexOf('.')) : ns)

export function cloneCollectionAsCappedPrivileges(question: AccessQuestion): boolean {
  const { body, db } = question
  const to = textIn(body, 'toCollection')
  return (
    holdsOn(question, namedBy(question), 'find') &&
    (to === undefined || holdsOn(question, `${db}.${to}`, 'insert', 'createIndex', 'convertToCapped'))
  )
}

/** Names that the client may learn anyway need no action. */
export function listCollectionsPrivileges(question: AccessQuestion): boolean {
  const { body, db, access, rules } = question
  if (isTrueIn(body, 'authorizedCollections') && isTrueIn(body, 'nameOnly') && access.privileges.reachesInto(db))
    return true
  if (!rules.isAction('listCollections')) return holdsOn(question, `${db}.system.namespaces`, 'find')
  return holdsOnDatabase(question, db, 'listCollections')
}

/** Before the action, clients read the collection with all indexes. */
export function listIndexesPrivileges(question: AccessQuestion): boolean {
  const { db, rules } = question
  if (!rules.isAction('listIndexes')) return holdsOn(question, `${db}.system.indexes`, 'find')
  return holdsOn(question, namedBy(question), 'listIndexes')
}

/** The reply has what the client may see. */
export function listDatabasesPrivileges(question: AccessQuestion): boolean {
  return question.rules.has('ownDatabases') || holdsOnCluster(question, 'listDatabases')
}

export function fileMd5Privileges(question: AccessQuestion): boolean {
  const { body, db } = question
  return holdsOn(question, `${db}.${textIn(body, 'root') ?? 'fs'}.chunks`, 'find')
}

export function mapReducePrivileges(question: AccessQuestion): boolean {
  const { body, db } = question
  if (!holdsOn(question, namedBy(question), 'find')) return false
  const out = findField(body, 'out')
  const target = out?.type === BsonType.string ? { ns: `${db}.${out.asString()}`, replaces: true } : targetIn(out, db)
  if (target === null) return true
  return holdsOn(question, target.ns, 'insert', target.replaces ? 'remove' : 'update')
}

/** Null: the results are in the reply. */
function targetIn(
  out: ReturnType<typeof findField>,
  db: string,
): { readonly ns: string; readonly replaces: boolean } | null {
  if (out?.type !== BsonType.object) return null
  const options = out.slice()
  const target = (mode: string): string | undefined => textIn(options, mode)
  const name = target('replace') ?? target('merge') ?? target('reduce')
  if (name === undefined) return null
  return { ns: `${textIn(options, 'db') ?? db}.${name}`, replaces: target('replace') !== undefined }
}
