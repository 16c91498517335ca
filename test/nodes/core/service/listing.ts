import type { Query, ServiceRequest } from '../../../../nodes/core/service/http';
import { type Account, ServiceProfile } from '../../../../nodes/core/profile/serviceProfile';
import { clientOf } from './clientOf';

/** The account of a service that responds to a query, and records the queries. */
export function listing(respond: (query: Query) => unknown, profile: object = {}) {
	const asked: Query[] = [];
	const transport = async ({ query = {}, search }: ServiceRequest) => {
		const inLink = new URLSearchParams(search);
		const linked = [...inLink.keys()].map((name): [string, Query[string]] => {
			const [only = '', ...others] = inLink.getAll(name);
			return [name, others.length === 0 ? only : [only, ...others]];
		});
		const given = search === undefined ? query : Object.fromEntries(linked);
		asked.push(given);
		await Promise.resolve();
		const text = JSON.stringify(respond(given));
		return { status: text.includes('Invalid API token') ? 401 : 200, headers: {}, text };
	};
	const account: Account = {
		client: clientOf(transport),
		profile: new ServiceProfile(profile),
	};
	return { asked, account };
}
