/** What a reply of explain says about shards. */

export interface ShardPlan {
  readonly shard: string
  /** From the first stage to the one that reads, such as `FETCH ← IXSCAN customer_1`. */
  readonly stages: string
  readonly keysExamined: number
  readonly documentsExamined: number
  readonly returned: number
  readonly durationMs: number
}

interface Stage {
  readonly stage?: string
  readonly indexName?: string
  readonly inputStage?: Stage
  readonly inputStages?: readonly Stage[]
  /** Since 5.1, for some plans. */
  readonly queryPlan?: Stage
}

interface Explain {
  readonly queryPlanner?: {
    readonly winningPlan?: {
      readonly shards?: readonly { readonly shardName: string; readonly winningPlan?: Stage }[]
    }
  }
  readonly executionStats?: {
    readonly executionStages?: { readonly shards?: readonly ShardStats[] }
  }
}

interface ShardStats {
  readonly shardName: string
  readonly nReturned?: number
  readonly executionTimeMillis?: number
  readonly totalKeysExamined?: number
  readonly totalDocsExamined?: number
}

/** In the order of the reply. Empty: it has another form, such as that of version 2.6. */
export function shardPlansIn(reply: object): ShardPlan[] {
  const { queryPlanner, executionStats } = reply as Explain
  const statistics = executionStats?.executionStages?.shards ?? []
  return (queryPlanner?.winningPlan?.shards ?? []).map(({ shardName, winningPlan }) => {
    const of = statistics.find((each) => each.shardName === shardName)
    return {
      ...{ shard: shardName, stages: winningPlan === undefined ? '' : stagesOf(winningPlan) },
      ...{ keysExamined: of?.totalKeysExamined ?? 0, documentsExamined: of?.totalDocsExamined ?? 0 },
      ...{ returned: of?.nReturned ?? 0, durationMs: of?.executionTimeMillis ?? 0 },
    }
  })
}

function stagesOf(plan: Stage): string {
  const { stage = '', indexName, inputStage, inputStages } = plan.queryPlan ?? plan
  const own = indexName === undefined ? stage : `${stage} ${indexName}`
  const inputs = inputStages ?? (inputStage === undefined ? [] : [inputStage])
  if (inputs.length === 0) return own
  const texts = inputs.map(stagesOf)
  return `${own} ← ${texts.length === 1 ? texts[0]! : `(${texts.join(' + ')})`}`
}
