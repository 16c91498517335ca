import type { Query, ServiceRequest } from '../../../../nodes/shared/api/http';
import { queryOf } from '../../../../nodes/shared/apiMapping/placeValues';
import { clientOf } from './clientOf';

/** A service that responds to a query, and records the queries and the followed links. */
export function listing(respond: (query: Query) => unknown) {
	const asked: Query[] = [];
	const links: string[] = [];
	const transport = async ({ path, query = {}, link }: ServiceRequest) => {
		const url = new URL(link ?? path, 'https://voice.example');
		const inLink = [...url.searchParams].map(([name, value]) => ({ name, value }));
		if (link !== undefined) links.push(link);
		const given = link === undefined ? query : queryOf(inLink);
		asked.push(given);
		await Promise.resolve();
		const text = JSON.stringify(respond(given));
		return { status: 200, headers: {}, text, url: url.href };
	};
	return { asked, links, client: clientOf(transport) };
}
