import { ApiClient } from '../../../../nodes/core/service/client';
import type { Transport } from '../../../../nodes/core/service/http';

const clock = { now: () => 0, elapsed: () => 0, sleep: async () => await Promise.resolve() };

/** A client whose clock is at 0, and whose waits end immediately. */
export function clientOf(transport: Transport, apiToken?: string): ApiClient {
	return new ApiClient(transport, clock, apiToken);
}
