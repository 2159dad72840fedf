/** Server: resolveView in view_catalog_helpers.cpp, resolved_view.cpp. */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { splitNamespace, type ResolvedView } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'
import { viewOf } from './view-catalog.js'
import type { ViewDefinition } from './view-definition.js'
import { viewDepthMax } from './view-graph.js'

const simpleCollation = new DocumentWriter(32).string('locale', 'simple').finish()

/** @throws CommandError 165 ViewDepthLimitExceeded, 182 InvalidViewDefinition */
export function resolveView(node: NodeHost, view: ViewDefinition): ResolvedView {
  const [db] = splitNamespace(view.ns)
  let pipeline = view.pipeline
  let ns = `${db}.${view.viewOn}`
  for (let depth = 1; ; depth++) {
    const below = viewOf(node, ns)
    if (below === null) return { ns, pipeline, collation: view.collation ?? simpleCollation }
    if (depth >= viewDepthMax) {
      throw new CommandError(
        'ViewDepthLimitExceeded',
        `View depth too deep or view cycle detected; maximum depth is ${viewDepthMax}`,
      )
    }
    pipeline = [...below.pipeline, ...pipeline]
    ns = `${db}.${below.viewOn}`
  }
}
