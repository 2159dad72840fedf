import { threadJob } from '@shardlab/jobs'
import { playSwarmTask } from './swarm-task.js'

export default threadJob(playSwarmTask)
