import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import type { N8nDriver, Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { fixtures, type Simulator } from '../simulator';

export const PACKAGE = 'n8n-nodes-voice-chat-agent';

export async function post(url: string, body: unknown): Promise<Response> {
	return await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: typeof body === 'string' ? body : JSON.stringify(body),
	});
}

const placed = z.object({ data: z.object({ call_id: z.string() }) });

/** Places calls directly at the service, without n8n. */
export async function placeCalls(
	{ baseUrl, token }: Simulator,
	count: number,
	webhookUrl: string,
): Promise<string[]> {
	const ids: string[] = [];
	for (let index = 0; index < count; index++) {
		const response = await fetch(`${baseUrl}/v1/call`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'API-Token': token },
			body: JSON.stringify({
				agent_uuid: fixtures.agents.full,
				country_code: 'IN',
				phone_number: String(9_000_000_000 + index),
				webhook_url: webhookUrl,
			}),
		});
		ids.push(placed.parse(await response.json()).data.call_id);
	}
	return ids;
}

export function callIdOf({ json }: INodeExecutionData): string {
	return z.string().parse(json.call_id);
}

const page = z.object({
	results: z.array(z.object({ id: z.string(), status: z.string() })),
	nextCursor: z.string().nullish(),
});

/** All executions of a workflow, from all pages of the list. */
export async function allExecutions(
	n8n: N8nDriver,
	{ id }: Reference,
): Promise<Array<{ id: string; status: string }>> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId: id }));
	const found: Array<{ id: string; status: string }> = [];
	for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
		const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
		const list = await n8n.request('GET', `/executions?filter=${filter}&limit=100${after}`);
		const { results, nextCursor } = page.parse(list);
		found.push(...results);
		cursor = nextCursor;
	}
	return found;
}

/** Waits for `count` successful executions. Returns the items of a node in all executions, including one too many. */
export async function executionsOf(
	n8n: N8nDriver,
	workflow: Reference,
	nodeName: string,
	count: number,
): Promise<INodeExecutionData[]> {
	await until(
		`${count} executions`,
		async () => {
			const all = await allExecutions(n8n, workflow);
			return all.filter(({ status }) => status === 'success').length >= count;
		},
		{ timeout: 300_000, every: 250 },
	);
	// An unexpected execution appears before n8n has served this many later requests, however slow it is.
	for (let later = 0; later < 10; later++) await allExecutions(n8n, workflow);
	const items: INodeExecutionData[] = [];
	for (const { id } of await allExecutions(n8n, workflow)) {
		items.push(...(await n8n.output(id, nodeName)));
	}
	return items;
}

/** Waits for the publication, which continues after the request. If n8n is killed before, it resumes only minutes later. */
export async function published(n8n: N8nDriver, workflow: Reference): Promise<void> {
	const errors = async () => await n8n.publicationErrors(workflow);
	await until('the publication to be complete', errors);
}

/** Waits until n8n has stored the first reading of Campaign Calls Trigger. Calls that end later are new. */
export async function firstReading(n8n: N8nDriver, { id }: Reference): Promise<void> {
	await until('the first reading to be stored', async () =>
		JSON.stringify(await n8n.request('GET', `/workflows/${id}`)).includes('"polled"'),
	);
}
