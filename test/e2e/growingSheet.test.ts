import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../../nodes/core/values/json';
import { plainText } from '../../nodes/core/values/values';
import type { Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';

const campaign = fixtures.campaigns.active;

describe('the same growing sheet, pushed again and again', () => {
	const { n8n, simulator, ours, publish } = useAccount();
	let workflow: Workflow;
	const path = randomUUID();

	beforeAll(async () => {
		const push = ours(
			'Push',
			'pushCampaignContacts',
			{
				campaignId: byId(campaign),
				agentUuid: byId(fixtures.agents.full),
				whatToDo: "={{ $('Webhook').first().json.body.what }}",
			},
			{ onError: 'continueRegularOutput' },
		);
		const flow = chain(
			'sheet',
			webhook(path, { responseMode: 'onReceived' }),
			node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' }),
			push,
			node('Pushed', 'n8n-nodes-base.noOp', 1),
		);
		workflow = await publish(flow);
	});

	const phone = (row: number) => `987654321${row}`;
	const start = async (whatToDo: string, ...rows: number[]): Promise<string> => {
		const before = new Set((await n8n.executions(workflow)).map(({ id }) => id));
		const sheet = rows.map((row) => ({ phone: phone(row), person_name: `Person ${row}` }));
		await n8n.webhook(path, { what: whatToDo, rows: [...sheet, { phone: 'none' }] });
		return await until('the execution', async () =>
			(await n8n.executions(workflow)).map(({ id }) => id).find((id) => !before.has(id)),
		);
	};
	/** The statuses in *Pushed*, *Rejected*, and *Skipped*, with the last digit of each number. */
	const outputsOf = async (id: string) => {
		const { runData } = await n8n.runData(id);
		const { hints = [], data } = runData.Push?.at(-1) ?? {};
		const outputs = (data?.main ?? []).map((items) =>
			(items ?? []).map(({ json }) =>
				[plainText(json.phone).at(-1), plainText(json.push_status)].join(' '),
			),
		);
		return { outputs, hint: hints[0]?.message };
	};
	const run = async (whatToDo: string, ...rows: number[]) => {
		const { id } = await n8n.finished(await start(whatToDo, ...rows));
		return await outputsOf(id);
	};
	const inCampaign = () => simulator.contactsOf(campaign).map(({ phone: number }) => number.at(-1));

	test('each number is pushed once, and the others are in Skipped', async () => {
		const bad = ['e rejected'];
		expect((await run('check', 0, 1)).outputs).toEqual([['0 ready', '1 ready'], bad, []]);
		expect((await run('release', 0, 1)).outputs).toEqual([['0 pushed', '1 pushed'], bad, []]);
		const known = ['0 sent_before', '1 sent_before'];
		expect((await run('wait', 0, 1, 2)).outputs).toEqual([['2 pushed'], bad, known]);
		known.push('2 sent_before');
		const checked = await run('check', 0, 1, 2, 3);
		expect(checked.outputs).toEqual([['0 ready', '1 ready', '2 ready', '3 ready'], bad, []]);
		expect(checked.hint).toMatch(
			/so nothing was sent\. 5 rows: 4 ready, 1 rejected\. A push skips the numbers that this workflow pushed/,
		);
		expect(inCampaign()).toEqual(['0', '1', '2']);

		// The third push is stopped while it waits for its response.
		const match = { method: 'POST', path: `/v1/campaigns/${campaign}/contacts` };
		simulator.faults.inject({ kind: 'hang', afterHandling: true, match, times: 1 });
		const begun = await start('release', 0, 1, 2, 3);
		await until('the request', () => inCampaign().length === 4);
		await n8n.request('POST', `/executions/${begun}/stop`);
		await n8n.finished(begun);
		const retried = await n8n.retry(begun, 'original');
		expect(await outputsOf(retried.id)).toMatchObject({
			outputs: [[], [...['3 unknown'], ...bad].sort(), known],
		});
		known.push('3 sent_before');
		const last = await run('release', 0, 1, 2, 3, 4);
		expect(last.outputs).toEqual([['4 pushed'], bad, known]);
		expect(last.hint).toMatch(/^6 rows: 1 pushed, 1 rejected, 4 sent before\. /);
		expect(inCampaign()).toEqual(['0', '1', '2', '3', '4']);
		const bodies = simulator.requests.map(({ body }) => body).filter(isJsonObject);
		expect(bodies).toHaveLength(4);
	});
});
