/**
 * Each stage asks for its own privileges; a pipeline that reads its collection needs `find` on it.
 * Server: lite_parsed_document_source.h (requiredPrivileges), getPrivilegesForAggregate.
 */
import { CommandArguments, type AccessQuestion } from '@shardlab/actor'
import { anyNormalResource } from '@shardlab/auth'
import { BsonType, CommandError, elementsOf, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import { parseMerge, parseOut, stageOperators, type MergeSpecification, type OutTarget } from '@shardlab/query'
import { holds } from './authorize.js'
import { holdsOn, holdsOnCluster, holdsOnDatabase, isTrueIn, valuesOf } from './needs.js'

interface PipelineScope {
  readonly question: AccessQuestion
  readonly db: string
  /** Of the pipeline; null: it has no collection. */
  readonly ns: string | null
}

type StagePrivileges = (scope: PipelineScope, argument: RawValue) => boolean

const onOwnNamespace =
  (action: string): StagePrivileges =>
  ({ question, ns, db }) =>
    ns === null ? holdsOnDatabase(question, db, action) : holdsOn(question, ns, action)

const onCluster =
  (action: string): StagePrivileges =>
  ({ question }) =>
    holdsOnCluster(question, action)

const nothing: StagePrivileges = () => true

/** Whether the option of a stage about operations or sessions asks for those of all users. */
const ofAllUsers =
  (action: string): StagePrivileges =>
  ({ question }, argument) => {
    if (argument.type !== BsonType.object) return true
    const options = argument.slice()
    return asksForOthers(question, options) ? holdsOnCluster(question, action) : true
  }

function asksForOthers({ access }: AccessQuestion, options: Uint8Array): boolean {
  if (isTrueIn(options, 'allUsers')) return true
  const users = valuesOf(options, 'users').flatMap((list) => (list.type === BsonType.array ? elementsOf(list) : []))
  return users.some((each) => {
    if (each.type !== BsonType.object) return true
    const name = each.slice()
    const [user, db] = [findField(name, 'user'), findField(name, 'db')]
    if (user?.type !== BsonType.string || db?.type !== BsonType.string) return true
    return !access.isUser({ user: user.asString(), db: db.asString() })
  })
}

/** Stages with documents of their own. A test compares the names with those of the language. */
export const sourcePrivileges: Readonly<Record<string, StagePrivileges>> = {
  $collStats: onOwnNamespace('collStats'),
  $indexStats: onOwnNamespace('indexStats'),
  $planCacheStats: onOwnNamespace('planCacheRead'),
  $currentOp: ofAllUsers('inprog'),
  $listSessions: ofAllUsers('listSessions'),
  $listLocalSessions: ofAllUsers('listSessions'),
  $listSampledQueries: onCluster('listSampledQueries'),
  $shardedDataDistribution: onCluster('shardedDataDistribution'),
  $querySettings: onCluster('querySettings'),
  $listClusterCatalog: ({ question, db }) =>
    db === 'admin' ? holdsOnCluster(question, 'listClusterCatalog') : holdsOnDatabase(question, db, 'listCollections'),
  $geoNear: onOwnNamespace('find'),
  $changeStream: ({ question, db, ns }, argument) => {
    const actions = ['find', 'changeStream']
    if (argument.type === BsonType.object && isTrueIn(argument.slice(), 'allChangesForCluster'))
      return holds(question, anyNormalResource, actions)
    return ns === null ? holdsOnDatabase(question, db, ...actions) : holdsOn(question, ns, ...actions)
  },
  $documents: nothing,
  $search: onOwnNamespace('find'),
  $searchMeta: onOwnNamespace('find'),
  $vectorSearch: onOwnNamespace('find'),
  $listSearchIndexes: onOwnNamespace('listSearchIndexes'),
}

/** Stages that write their input to a collection. */
export const writerPrivileges: Readonly<Record<string, StagePrivileges>> = {
  $out({ question, db }, argument) {
    const [target] = orNothing(() => [parseOut(argument, db)])
    return target === undefined || maySave(question, target, ['insert', 'remove'])
  },
  $merge({ question, db }, argument) {
    const [merge] = orNothing(() => [parseMerge(argument, db)])
    return merge === undefined || maySave(question, merge, mergeActions(merge))
  },
}

function maySave(question: AccessQuestion, { db, collection }: OutTarget, actions: readonly string[]): boolean {
  return holdsOn(question, `${db}.${collection}`, ...actions, ...bypass(question))
}

const bypass = ({ body }: AccessQuestion): readonly string[] =>
  isTrueIn(body, 'bypassDocumentValidation') ? ['bypassDocumentValidation'] : []

/** Server: merge_processor.cpp, the descriptors of the modes. */
function mergeActions({ whenMatched, whenNotMatched }: MergeSpecification): readonly string[] {
  if (whenMatched === 'fail') return ['insert']
  return whenNotMatched === 'insert' ? ['insert', 'update'] : ['update']
}

/** Of aggregate, and of the aggregate in an explain. */
export function aggregatePrivileges(question: AccessQuestion): boolean {
  const { args, db } = question
  return allowsPipeline({ question, db, ns: args.namedCollection(db) }, stagesIn(args))
}

function stagesIn(args: CommandArguments): Uint8Array[] {
  const pipeline = args.value('pipeline')
  return pipeline?.type === BsonType.array ? documentsIn(pipeline) : []
}

export const documentsIn = (array: RawValue): Uint8Array[] =>
  elementsOf(array).flatMap((each) => (each.type === BsonType.object ? [each.slice()] : []))

/** Of a view: the privileges that its pipeline needs on the collection below it. */
export function allowsViewPipeline(
  question: AccessQuestion,
  db: string,
  viewOn: string,
  pipeline: readonly Uint8Array[],
): boolean {
  return allowsPipeline({ question, db, ns: `${db}.${viewOn}` }, pipeline)
}

function allowsPipeline(scope: PipelineScope, stages: readonly Uint8Array[]): boolean {
  const { question, ns, db } = scope
  const [first] = stages
  const startsWithSource = first !== undefined && sourceOf(first) !== undefined
  if (!startsWithSource && !(ns === null ? holdsOnDatabase(question, db, 'find') : holdsOn(question, ns, 'find')))
    return false
  return stages.every((stage) => allowsStage(scope, stage))
}

function sourceOf(stage: Uint8Array): StagePrivileges | undefined {
  const it = new FieldIterator(stage)
  if (!it.next()) return undefined
  const name = it.name()
  return Object.hasOwn(sourcePrivileges, name) ? sourcePrivileges[name] : undefined
}

function allowsStage(scope: PipelineScope, stage: Uint8Array): boolean {
  const it = new FieldIterator(stage)
  if (!it.next()) return true
  const name = it.name()
  const argument = it.value()
  const own = sourceOf(stage) ?? (Object.hasOwn(writerPrivileges, name) ? writerPrivileges[name] : undefined)
  if (own !== undefined && !own(scope, argument)) return false
  const { question } = scope
  for (const pipeline of innerPipelines(name, argument, scope))
    if (!allowsPipeline({ question, ...pipeline }, pipeline.stages)) return false
  return nestedStages(name, argument).every((stages) => stages.every((each) => allowsStage(scope, each)))
}

interface InnerPipeline {
  readonly db: string
  readonly ns: string | null
  readonly stages: readonly Uint8Array[]
}

function innerPipelines(name: string, argument: RawValue, { db }: PipelineScope): InnerPipeline[] {
  const foreign = stageOperators.get(name)?.foreign
  if (foreign === undefined) return []
  return orNothing(() => foreign(argument)).map((each) => ({
    db: each.db ?? db,
    ns: each.collection === null ? null : `${each.db ?? db}.${each.collection}`,
    stages: each.stages,
  }))
}

/** Pipelines on the stage's own input need nothing for it. */
function nestedStages(name: string, argument: RawValue): readonly (readonly Uint8Array[])[] {
  const nested = stageOperators.get(name)?.nested
  return nested === undefined ? [] : orNothing(() => nested(argument))
}

/** A malformed argument needs nothing: the command fails with it when the pipeline is compiled. */
function orNothing<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof CommandError) return []
    throw error
  }
}
