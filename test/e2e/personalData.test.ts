import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import groupBy from 'lodash/groupBy';
import { DateTime } from 'luxon';
import { z } from 'zod';
import { calledText, periodAt } from '../../nodes/core/calls/callsPerPerson';
import type { Workflow } from '../n8n/driver';
import { querySqlite } from '../n8n/sqlite';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { n8nFolder } from './n8nFolder';

const { campaigns, agents } = fixtures;
// Words and numbers of no other test, because all share n8n's database and log.
const PHONE = '9312645870';
const OTHER = '9312645871';
const PERSON = 'Zyxwvut Unusualname';
const GREETING = 'Greetings from the quokka office';
const AGENT = { agentUuid: byId(agents.full) };

const hashes = z.object({ data: z.array(z.string()) });

/** n8n stores an MD5 hash of each text. */
const hashOf = (text: string) => createHash('md5').update(text).digest('base64');

describe('what n8n keeps of a person', () => {
	const { home, log } = n8nFolder();
	const { n8n, simulator, ours, placeCall, publish, executionOf, removeWorkflows } = useAccount();

	function query<T>(sql: string, rows: z.ZodType<T>): T {
		return rows.parse(querySqlite(home, sql));
	}

	/** The tables that contain this text in any column. */
	function tablesWith(text: string): string[] {
		const columns = query(
			`select m.name as inTable, c.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'`,
			z.array(z.object({ inTable: z.string(), name: z.string() })),
		);
		const checks = Object.entries(groupBy(columns, 'inTable')).map(([table, ofTable]) => {
			const found = ofTable.map(({ name }) => `instr("${name}", '${text}') > 0`).join(' or ');
			return `select '${table}' as name where exists (select 1 from "${table}" where ${found})`;
		});
		const tables = query(checks.join(' union all '), z.array(z.object({ name: z.string() })));
		return tables.map(({ name }) => name);
	}

	/** The hashes in n8n's deduplication store, by whose they are: "" for a workflow. */
	function storedHashes({ id }: Workflow): Map<string, string[]> {
		const rows = query(
			`select context, value from processed_data where workflowId = '${id}'`,
			z.array(z.object({ context: z.string(), value: z.string() })),
		);
		return new Map(
			rows.map(({ context, value }) => [context, hashes.parse(JSON.parse(value)).data]),
		);
	}

	const staticData = ({ id }: Workflow) =>
		query(
			`select staticData from workflow_entity where id = '${id}'`,
			z.array(z.object({ staticData: z.string().nullable() })),
		).map((row) => row.staticData);

	const callNode = (parameters: INodeParameters = {}) =>
		placeCall({ personName: '={{ $json.name }}', ...parameters });
	const oncePerDay = { callLimit: 'day', maximumCalls: 1 };
	const pushNode = () =>
		ours('Push', 'pushCampaignContacts', {
			...AGENT,
			campaignId: byId(campaigns.active),
			personNameColumn: 'name',
			whatToDo: 'wait',
		});

	/** One item, with the body of the request. */
	const people = () =>
		node('People', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });

	const post = async (path: string, body: IDataObject): Promise<void> => {
		expect((await n8n.webhook(path, body)).status).toBe(200);
	};

	it('forgets a person in the stores of a workflow, who is then called and pushed again', async () => {
		const [path, forgetPath] = [randomUUID(), randomUUID()];
		const first = chain('privacy', webhook(path), people(), callNode(oncePerDay));
		const forget = ours('Forget', 'dnd', {
			resource: 'rememberedNumber',
			operation: 'forget',
			phone: '={{ $json.body.phone }}',
			campaignId: String(campaigns.active),
		});
		const second = chain('privacy', { ...webhook(forgetPath), name: 'Asked' }, forget);
		const push = pushNode();
		const connections = { ...first.connections, ...second.connections };
		connections.People?.main?.[0]?.push({ node: push.name, type: 'main', index: 0 });
		const nodes = [...first.nodes, ...second.nodes, push];
		const workflow = await publish({ name: 'privacy', nodes, connections });
		const run = async (phone: string) => await post(path, { people: [{ phone, name: PERSON }] });
		const pushes = (phone: string) =>
			simulator.requests.filter(
				({ path: to, body }) => to.endsWith('/contacts') && JSON.stringify(body).includes(phone),
			).length;
		const counts = (phone: string) => [simulator.callsTo(phone), pushes(phone)];

		await run(OTHER);
		const ofOther = storedHashes(workflow).get('') ?? [];
		// The call and the push.
		expect(ofOther).toHaveLength(2);
		await run(PHONE);
		await run(`+91 ${PHONE}`);
		expect([counts(PHONE), counts(OTHER)]).toEqual([
			[1, 1],
			[1, 1],
		]);
		const stored = storedHashes(workflow).get('') ?? [];
		expect(stored).toHaveLength(4);
		// Today in the time zone of n8n, or tomorrow if the test runs at midnight.
		const days = [0, 1].map((ahead) =>
			DateTime.now().setZone('America/New_York').plus({ days: ahead }),
		);
		const texts = days.map((day) => hashOf(calledText(periodAt(day, 'day'), 0, `91${PHONE}`)));
		expect(stored.filter((hash) => texts.includes(hash))).toHaveLength(1);

		await post(forgetPath, { phone: `0${PHONE}` });
		const left = storedHashes(workflow);
		// The claims of the executions ended with them.
		expect([...left].filter(([, texts]) => texts.length > 0).map(([owner]) => owner)).toEqual(['']);
		expect([...(left.get('') ?? [])].sort()).toEqual([...ofOther].sort());
		expect(staticData(workflow)).toEqual([null]);
		const executions = await n8n.executions(workflow);
		const [item] = await n8n.output(executions[0]?.id ?? '', 'Forget');
		expect(item?.json).toEqual({ forgotten: true });

		await run(PHONE);
		await run(OTHER);
		expect([counts(PHONE), counts(OTHER)]).toEqual([
			[2, 2],
			[1, 1],
		]);
	});

	it.each([
		['workflow', 2],
		['node', 1],
	])(
		"n8n's Remove Duplicates node with the scope %s leaves a number pushed %i time(s)",
		async (scope, times) => {
			const [path, clearPath] = [randomUUID(), randomUUID()];
			const first = chain('pushes', webhook(path), people(), pushNode());
			const clear = node('Clear', 'n8n-nodes-base.removeDuplicates', 2, {
				operation: 'clearDeduplicationHistory',
				mode: 'cleanDatabase',
				options: { scope },
			});
			const second = chain('pushes', { ...webhook(clearPath), name: 'Asked' }, clear);
			const nodes = [...first.nodes, ...second.nodes];
			const connections = { ...first.connections, ...second.connections };
			await publish({ name: 'pushes', nodes, connections });
			const before = simulator.requests.length;
			// Without a pushed row, n8n's response is an error.
			const run = async () => await n8n.webhook(path, { people: [{ phone: OTHER, name: PERSON }] });
			await run();
			await post(clearPath, {});
			await run();
			const sent = simulator.requests
				.slice(before)
				.filter(({ path: to }) => to.endsWith('/contacts'));
			expect(sent).toHaveLength(times);
		},
	);

	it('keeps nothing of a person whose execution and workflow are deleted', async () => {
		const person = 'Tuvwxyz Deletedname';
		const path = randomUUID();
		const flow = chain('deleted', webhook(path), people(), callNode(oncePerDay));
		const workflow = await publish(flow);
		await post(path, { people: [{ phone: '9312645873', name: person }] });
		expect(tablesWith(person)).toEqual(['execution_data']);
		expect([...storedHashes(workflow).values()].flat()).toHaveLength(1);
		const ids = [await executionOf(workflow)];
		await n8n.request('POST', '/executions/delete', { ids });
		expect(tablesWith(person)).toEqual([]);
		await removeWorkflows();
		expect(storedHashes(workflow).size).toBe(0);
	});

	it('keeps numbers, names, and texts in executions only, and writes none into its log and other files', async () => {
		const path = randomUUID();
		const call = callNode({ options: { initialGreeting: GREETING } });
		const workflow = await publish(chain('texts', webhook(path), people(), call));
		await post(path, { people: [{ phone: OTHER, name: PERSON }] });
		const ofGreeting = tablesWith(GREETING).filter((table) => !table.startsWith('workflow_'));
		expect(ofGreeting).toEqual(['execution_data']);
		expect(tablesWith(PERSON)).toEqual(['execution_data']);
		expect(tablesWith(OTHER)).toEqual(['execution_data']);
		expect([...storedHashes(workflow).values()].flat()).toEqual([]);
		expect(staticData(workflow)).toEqual([null]);

		const folder = join(home, '.n8n');
		const files = (await readdir(folder)).filter((name) => name.endsWith('.log'));
		const written = [log, ...files.map((name) => join(folder, name))].map((file) =>
			readFileSync(file, 'utf8'),
		);
		expect(written[0]?.length).toBeGreaterThan(100);
		for (const text of [PHONE, OTHER, PERSON, GREETING]) {
			expect(written.filter((content) => content.includes(text))).toEqual([]);
		}
	});

	it('finds an execution by its calls and their outcomes in its custom data, which has no names and numbers', async () => {
		const wait = { options: { waitMinutes: 60 } };
		const path = randomUUID();
		const call = callNode(wait);
		simulator.setAutoComplete({ afterMs: 0 });
		const workflow = await publish(chain('found', webhook(path), people(), call));
		const called = [PHONE, OTHER].map((phone) => ({ phone, name: PERSON }));
		await post(path, { people: called });
		simulator.setAutoComplete(null);
		const data = query(
			`select key, value from execution_metadata where executionId = ${await executionOf(workflow)}`,
			z.array(z.object({ key: z.string(), value: z.string() })),
		);
		const [first, second] = simulator
			.placedCalls()
			.slice(-2)
			.map(({ callId }) => callId);
		expect(data).toContainEqual({ key: 'outcome', value: 'Answered' });
		const ids = data.find(({ key }) => key === 'call_id')?.value;
		expect(ids).toContain(first);
		expect(ids).toContain(second);
		for (const text of [PHONE, OTHER, PERSON]) expect(JSON.stringify(data)).not.toContain(text);
	});
});
