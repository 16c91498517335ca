import type { Query, ServiceRequest } from '../../../../nodes/core/service/http';
import { queryOf } from '../../../../nodes/core/profile/placeValues';
import { clientOf } from './clientOf';

/** A service that responds to a query, and records the queries. */
export function listing(respond: (query: Query) => unknown) {
	const asked: Query[] = [];
	const transport = async ({ query = {}, search }: ServiceRequest) => {
		const inLink = [...new URLSearchParams(search)].map(([name, value]) => ({ name, value }));
		const given = search === undefined ? query : queryOf(inLink);
		asked.push(given);
		await Promise.resolve();
		const text = JSON.stringify(respond(given));
		return { status: 200, headers: {}, text };
	};
	return { asked, client: clientOf(transport) };
}
