import { ApiClient } from '../../../../nodes/shared/api/client';
import type { Query, ServiceRequest } from '../../../../nodes/shared/api/http';

/** A service that answers each request from its query, and remembers the queries. */
export function listing(answer: (query: Query) => unknown) {
	const asked: Query[] = [];
	const transport = async ({ query = {} }: ServiceRequest) => {
		asked.push(query);
		await Promise.resolve();
		return { status: 200, headers: {}, text: JSON.stringify(answer(query)) };
	};
	const clock = { now: () => 0, sleep: async () => await Promise.resolve() };
	return { asked, client: new ApiClient(transport, clock, () => 0) };
}
