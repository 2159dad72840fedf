import { CommandError, findField } from '@shardlab/bson'
import { internalDatabases } from '@shardlab/query'
import { stagesOf, type QueryPlan } from '@shardlab/storage'
import { type ParameterSet, splitNamespace } from '@shardlab/member'

/**
 * Refuses collection scans of user collections by queries with a predicate if `notablescan` is set.
 * Query settings take precedence. Server: fillOutPlannerParams, query_planner.cpp.
 * @param hint of the query, including `$natural`
 * @throws CommandError 291 NoQueryExecutionPlans
 */
export function checkTableScan(
  { parameters }: { readonly parameters: Pick<ParameterSet<'notablescan'>, 'bool'> },
  { collection: { ns }, filter: { root }, root: plan, isAllowed }: QueryPlan,
  hint: string | Uint8Array | undefined,
): void {
  if (isAllowed || !parameters.bool('notablescan')) return
  const [db, name] = splitNamespace(ns)
  if (internalDatabases.has(db) || name.startsWith('system.')) return
  if (root.kind === 'always' ? root.value : root.kind === 'and' && root.children.length === 0) return
  for (const { stage } of stagesOf(plan)) {
    if (stage !== 'COLLSCAN') continue
    const isNatural = hint !== undefined && typeof hint !== 'string' && findField(hint, '$natural') !== undefined
    throw new CommandError(
      'NoQueryExecutionPlans',
      `error processing query: ns=${ns} planner returned error :: caused by :: ${
        isNatural
          ? "hint $natural is not allowed, because 'notablescan' is enabled"
          : "No indexed plans available, and running with 'notablescan'"
      }`,
    )
  }
}
