import { sleep } from 'n8n-workflow';
import type { Clock } from '../core/values/clock';

/** The clock of this process. n8n's sleep is the only timer that n8n allows in nodes. */
export const clock: Clock = {
	now: () => Date.now(),
	elapsed: () => performance.now(),
	sleep,
};
