import { textsFrom } from './workload.js'
import { versionOf, type Plan } from './schedule.js'
import type { Workload } from './workload.js'
import type { RecordDocument } from './template.js'

export type Filter = Record<string, unknown>

export type Action =
  | {
      readonly kind: 'find'
      readonly filter: Filter
      readonly sort: Readonly<Record<string, 1 | -1>> | null
      readonly limit: number
    }
  | { readonly kind: 'count'; readonly filter: Filter }
  | { readonly kind: 'aggregate'; readonly pipeline: readonly Record<string, unknown>[] }
  | { readonly kind: 'insert'; readonly documents: readonly RecordDocument[] }
  | {
      readonly kind: 'update'
      readonly filter: Filter
      readonly set: Record<string, unknown>
      readonly upsert: boolean
      readonly readsFirst: boolean
    }
  | {
      readonly kind: 'transaction'
      readonly reads: readonly Filter[]
      readonly updates: readonly { readonly filter: Filter; readonly set: Record<string, unknown> }[]
    }

export function actionOf(workload: Workload, plan: Plan): Action {
  const { operation, key, cycle } = plan
  const { template } = workload
  switch (operation.kind) {
    case 'findOne':
      return { kind: 'find', filter: filterOf(workload, plan), sort: null, limit: 1 }
    case 'find':
      return { kind: 'find', filter: filterOf(workload, plan), sort: operation.sort, limit: plan.limit }
    case 'count':
      return { kind: 'count', filter: filterOf(workload, plan) }
    case 'aggregate':
      return { kind: 'aggregate', pipeline: [{ $match: filterOf(workload, plan) }, ...operation.pipeline] }
    case 'insert':
    case 'bulkInsert':
      return {
        kind: 'insert',
        documents: Array.from({ length: operation.newRecords }, (_, i) => template.record(key + i, versionOf(cycle))),
      }
    case 'upsert': {
      const filter: Filter = {}
      const set: Record<string, unknown> = {}
      // An upsert copies its filter into the document. Only `_id` and the shard key, which route
      // it, are there.
      const inFilter = new Set(['_id', ...Object.keys(workload.shardKey ?? {})])
      for (const [name, value] of Object.entries(template.record(key, versionOf(cycle))))
        (inFilter.has(name) ? filter : set)[name] = value
      return { kind: 'update', filter, set, upsert: true, readsFirst: false }
    }
    case 'update':
    case 'readModifyWrite':
      return {
        kind: 'update',
        filter: filterOf(workload, plan),
        set: textsOf(workload, plan, key),
        upsert: false,
        readsFirst: operation.kind === 'readModifyWrite',
      }
    case 'transaction': {
      const { reads } = operation.transaction!
      return {
        kind: 'transaction',
        reads: plan.keys.slice(0, reads).map((key) => filterOf(workload, plan, key)),
        updates: plan.keys.slice(reads).map((key) => ({
          filter: filterOf(workload, plan, key),
          set: textsOf(workload, plan, key),
        })),
      }
    }
  }
}

function textsOf({ template }: Workload, { operation, field, cycle }: Plan, key: number): Record<string, unknown> {
  const set: Record<string, unknown> = {}
  for (const text of textsFrom(template.texts, field, operation.fields))
    set[text.name] = template.text(text, key, versionOf(cycle))
  return set
}

function filterOf({ template }: Workload, { operation, key: planned }: Plan, key = planned): Filter {
  const filter: Filter = {}
  for (const field of operation.by) filter[field] = template.value(field, key)
  if (operation.range !== null) {
    const from = template.value(operation.range.field, key)
    filter[operation.range.field] =
      operation.range.width === null ? { $gte: from } : { $gte: from, $lt: (from as number) + operation.range.width }
  }
  return operation.filter === null ? filter : { ...filter, ...operation.filter }
}
