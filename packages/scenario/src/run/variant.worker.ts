import { threadJob } from '@shardlab/jobs'
import { playTask } from './play-task.js'

export default threadJob(playTask)
