/** Server: view_graph.cpp. */
import { CommandError } from '@shardlab/bson'
import { sameCollation, type ViewDefinition } from './view-definition.js'

/** Of a chain, including the first view. */
export const viewDepthMax = 20
const viewPipelineBytesMax = 16 * 1000 * 1000

interface Node {
  readonly view: ViewDefinition
  readonly references: readonly string[]
}

/**
 * @param others the other views of the database
 * @param references namespaces that `view` reads
 * @throws CommandError 5 GraphContainsCycle, 165 ViewDepthLimitExceeded, 167
 *   OptionNotSupportedOnView, 195 ViewPipelineMaxSizeExceeded
 */
export function checkViewGraph(
  others: readonly ViewDefinition[],
  view: ViewDefinition,
  references: readonly string[],
  referencesOf: (view: ViewDefinition) => readonly string[],
): void {
  const nodes = new Map<string, Node>(
    others.map((other) => [other.ns, { view: other, references: referencesOf(other) }]),
  )
  nodes.set(view.ns, { view, references })
  checkCollations(nodes, view, references)
  checkCycle(nodes, view.ns, [view.ns])
  const below = longest(nodes, view.ns, (ns) => nodes.get(ns)?.references.filter((name) => nodes.has(name)) ?? [], 0)
  const parents = (ns: string) =>
    [...nodes.values()].filter((node) => node.references.includes(ns)).map((node) => node.view.ns)
  const above = longest(nodes, view.ns, parents, 0)
  if (below.depth + above.depth - 1 > viewDepthMax)
    throw new CommandError('ViewDepthLimitExceeded', `View depth limit exceeded; maximum depth is ${viewDepthMax}`)
  if (below.bytes + above.bytes - pipelineBytes(view) > viewPipelineBytesMax)
    throw new CommandError(
      'ViewPipelineMaxSizeExceeded',
      `Operation would result in a resolved view pipeline that exceeds the maximum size of ${viewPipelineBytesMax} bytes`,
    )
}

function checkCollations(nodes: ReadonlyMap<string, Node>, view: ViewDefinition, references: readonly string[]): void {
  for (const name of references) {
    const other = nodes.get(name)?.view
    if (other !== undefined && !sameCollation(view.collation, other.collation))
      throw new CommandError(
        'OptionNotSupportedOnView',
        `View ${view.ns} has conflicting collation with view ${other.ns}`,
      )
  }
  for (const { view: parent, references: read } of nodes.values()) {
    if (read.includes(view.ns) && !sameCollation(view.collation, parent.collation))
      throw new CommandError(
        'OptionNotSupportedOnView',
        `View ${view.ns} has a collation that does not match the collation of view ${parent.ns}`,
      )
  }
}

function checkCycle(nodes: ReadonlyMap<string, Node>, start: string, path: readonly string[]): void {
  for (const name of nodes.get(path.at(-1)!)?.references ?? []) {
    if (name === start) {
      const back = [...path, name].reverse()
      throw new CommandError('GraphContainsCycle', `View cycle detected: ${[back[0], ...back].join(' => ')}`)
    }
    if (nodes.has(name) && path.length <= viewDepthMax) checkCycle(nodes, start, [...path, name])
  }
}

/** The longest chain from a view, in views and in bytes of their pipelines. */
function longest(
  nodes: ReadonlyMap<string, Node>,
  ns: string,
  next: (ns: string) => readonly string[],
  depth: number,
): { depth: number; bytes: number } {
  if (depth > viewDepthMax)
    throw new CommandError('ViewDepthLimitExceeded', `View depth limit exceeded; maximum depth is ${viewDepthMax}`)
  const steps = next(ns).map((name) => longest(nodes, name, next, depth + 1))
  return {
    depth: 1 + Math.max(0, ...steps.map((step) => step.depth)),
    bytes: pipelineBytes(nodes.get(ns)!.view) + Math.max(0, ...steps.map((step) => step.bytes)),
  }
}

function pipelineBytes(view: ViewDefinition): number {
  return view.pipeline.reduce((sum, stage) => sum + stage.length, 0)
}
