/** The analysis of shard keys and the sampling of queries for it. */
import { row } from '../row.js'

export const queryAnalysisBehaviours = {
  queryAnalyzer: row<boolean>(
    'Shard keys can be analysed: analyzeShardKey and configureQueryAnalyzer exist, and members sample queries.',
    'reference/command/analyzeShardKey and configureQueryAnalyzer, new in 7.0',
    ['2.6', false],
    ['7.0', true],
  ),
}
