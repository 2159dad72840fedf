import { threadJob } from '@shardlab/jobs'
import { serveGenerator } from '@shardlab/load'

export default threadJob(serveGenerator)
