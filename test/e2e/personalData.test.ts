import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import { DateTime } from 'luxon';
import { z } from 'zod';
import { calledText, periodAt } from '../../nodes/shared/calls/callsPerPerson';
import { N8nDriver, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { querySqlite } from '../n8n/sqlite';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { credentialFor, PACKAGE } from './calls';
import { removeServer, startServer } from './ownServer';

const { campaigns, agents, calls } = fixtures;
const PHONE = '9123456780';
const OTHER = '9123456781';
const PERSON = 'Zyxwvut Unusualname';
const GREETING = 'Greetings from the quokka office';
/** A part of the simulated call's transcript. */
const SPOKEN = 'Hello, do you have a minute?';
const COUNTRY = { countryCode: 'IN' };
const AGENT = { agentUuid: byId(agents.full) };

const hashes = z.object({ data: z.array(z.string()) });

/** n8n stores an MD5 hash of each text. */
const hashOf = (text: string) => createHash('md5').update(text).digest('base64');

/** Starts its own n8n, because the tests read its whole database and log. */
describe('what n8n keeps of a person', () => {
	let server: N8nServer;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credentials: NonNullable<INode['credentials']>;

	beforeAll(async () => {
		server = await startServer({ EXECUTIONS_DATA_PRUNE_HARD_DELETE_INTERVAL: '1' });
		simulator = await startSimulator({ dialect: dialects.plain, token: 'privacy-token-01' });
		n8n = await N8nDriver.signIn(server.baseUrl);
		credentials = await credentialFor(n8n, simulator);
	});
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	function query<T>(sql: string, rows: z.ZodType<T>): T {
		return rows.parse(querySqlite(server.home, sql));
	}

	/** The tables that contain this text in any column. */
	function tablesWith(text: string): string[] {
		const names = z.array(z.object({ name: z.string() }));
		return query(`select name from sqlite_master where type = 'table'`, names)
			.map(({ name }) => name)
			.filter((table) => {
				const rows = query(`select * from "${table}"`, z.array(z.record(z.unknown())));
				return rows.some((row) => Object.values(row).some((value) => String(value).includes(text)));
			});
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

	const ours = (name: string, type: string, parameters: INodeParameters) =>
		node(name, `${PACKAGE}.${type}`, 1, parameters, { credentials });
	const callNode = (parameters: INodeParameters = {}) =>
		ours('Call', 'placeCall', {
			...AGENT,
			...COUNTRY,
			phoneNumber: '={{ $json.phone }}',
			personName: '={{ $json.name }}',
			...parameters,
		});
	const oncePerDay = { options: { callLimit: { limit: { maximumCalls: 1, period: 'day' } } } };
	const pushNode = () =>
		ours('Push', 'pushCampaignContacts', {
			...AGENT,
			campaignId: byId(campaigns.active),
			personNameColumn: 'name',
			options: { skipPushedBefore: true },
		});

	/** One item, with the body of the request. */
	const people = () =>
		node('People', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });

	async function publish(...nodes: INode[]): Promise<{ workflow: Workflow; path: string }> {
		const path = randomUUID();
		const workflow = await n8n.createWorkflow(
			chain(`privacy ${path}`, webhook(path), people(), ...nodes),
		);
		await n8n.activate(workflow);
		return { workflow, path };
	}

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
			campaignId: byId(campaigns.active),
		});
		const second = chain('privacy', { ...webhook(forgetPath), name: 'Asked' }, forget);
		const push = pushNode();
		const connections = { ...first.connections, ...second.connections };
		connections.People?.main?.[0]?.push({ node: push.name, type: 'main', index: 0 });
		const nodes = [...first.nodes, ...second.nodes, push];
		const workflow = await n8n.createWorkflow({ name: 'privacy', nodes, connections });
		await n8n.activate(workflow);
		const run = async (phone: string) => await post(path, { people: [{ phone, name: PERSON }] });
		const pushes = (phone: string) =>
			simulator.requests.filter(
				({ path: to, body }) => to.endsWith('/contacts') && JSON.stringify(body).includes(phone),
			).length;
		const counts = (phone: string) => [simulator.callsTo(phone), pushes(phone)];

		await run(OTHER);
		const ofOther = storedHashes(workflow).get('') ?? [];
		expect(ofOther).toHaveLength(2);
		await run(PHONE);
		await run(`+91 ${PHONE}`);
		expect([counts(PHONE), counts(OTHER)]).toEqual([
			[1, 1],
			[1, 1],
		]);
		const stored = storedHashes(workflow).get('') ?? [];
		// The call and the push.
		expect(stored).toHaveLength(4);

		await post(forgetPath, { phone: `0${PHONE}` });
		const left = storedHashes(workflow);
		// The notes of the calls ended with their executions.
		expect([...left].filter(([, texts]) => texts.length > 0).map(([owner]) => owner)).toEqual(['']);
		expect([...(left.get('') ?? [])].sort()).toEqual([...ofOther].sort());
		expect(staticData(workflow)).toEqual([null]);
		const executions = await n8n.executions(workflow);
		const [item] = await n8n.output(executions[0]?.id ?? '', 'Forget');
		expect(item?.json).toMatchObject({
			forgotten: true,
			forgotten_calls: true,
			forgotten_push: true,
		});

		await run(PHONE);
		await run(OTHER);
		expect([counts(PHONE), counts(OTHER)]).toEqual([
			[2, 2],
			[1, 1],
		]);
	});

	it('keeps numbers, names, and texts in executions only', async () => {
		const { workflow, path } = await publish(callNode({ initialGreeting: GREETING }));
		await post(path, { people: [{ phone: OTHER, name: PERSON }] });
		for (const text of [PERSON, GREETING]) {
			const tables = tablesWith(text);
			expect(tables).toContain('execution_data');
			expect(tables.filter((table) => !/^(execution_data|workflow_)/.test(table))).toEqual([]);
		}
		expect(tablesWith(PERSON)).toEqual(['execution_data']);
		expect(tablesWith(OTHER)).toEqual(['execution_data']);
		expect(storedHashes(workflow).size).toBe(0);
		expect(staticData(workflow)).toEqual([null]);
	});

	it('writes no number, name, or text into the log and the other files', async () => {
		const log = readFileSync(server.log, 'utf8');
		expect(log.length).toBeGreaterThan(100);
		const folder = join(server.home, '.n8n');
		const files = (await readdir(folder)).filter((name) => /\.log$/.test(name));
		const texts = await Promise.all(
			files.map(async (name) => await readFile(join(folder, name), 'utf8')),
		);
		for (const text of [PHONE, OTHER, PERSON, GREETING]) {
			expect([log, ...texts].filter((written) => written.includes(text))).toEqual([]);
		}
	});

	it('keeps nothing of a successful execution that n8n does not save, after the next deletion', async () => {
		const unsaved = 'Vutsrqp Otherperson';
		const path = randomUUID();
		const workflow = await n8n.createWorkflow({
			...chain('unsaved', webhook(path), people(), callNode()),
			settings: { saveDataSuccessExecution: 'none' },
		});
		await n8n.activate(workflow);
		const before = simulator.callsTo(OTHER);
		await post(path, { people: [{ phone: OTHER, name: unsaved }] });
		expect(simulator.callsTo(OTHER)).toBe(before + 1);
		await expectNone(unsaved);
		expect(storedHashes(workflow).size).toBe(0);
	});

	/** n8n deletes such executions at intervals. */
	async function expectNone(text: string): Promise<void> {
		const isGone = async () => await Promise.resolve(tablesWith(text).length === 0);
		await until('the deletion', isGone, { timeout: 150_000, every: 1_000 });
		expect(tablesWith(text)).toEqual([]);
	}

	it('deletes an execution from the database when a person deletes it', async () => {
		const name = 'Srqponm Deletedperson';
		const { workflow, path } = await publish(callNode());
		await post(path, { people: [{ phone: OTHER, name }] });
		expect(tablesWith(name)).toEqual(['execution_data']);
		const ids = (await n8n.executions(workflow)).map(({ id }) => id);
		await n8n.request('POST', '/executions/delete', { ids });
		expect(tablesWith(name)).toEqual([]);
	});

	it('keeps no transcript if the node does not return it', async () => {
		const get = (parameters: INodeParameters) =>
			ours('Get', 'getCall', { callId: calls.finished, ...parameters });
		const run = async (parameters: INodeParameters) => {
			const { workflow, path } = await publish(get(parameters));
			await post(path, { people: [{ any: 'body' }] });
			const [execution] = await n8n.executions(workflow);
			return await n8n.output(execution?.id ?? '', 'Get');
		};
		await run({ operation: 'get', simplify: 'selected', selectedFields: 'call_id' });
		expect(tablesWith(SPOKEN)).toEqual([]);
		expect(JSON.stringify(await run({ operation: 'getTranscript' }))).toContain(SPOKEN);
		expect(tablesWith(SPOKEN)).toEqual(['execution_data']);
	});

	it('hashes are those of the texts that the package stores', async () => {
		const { workflow, path } = await publish(callNode(oncePerDay));
		await post(path, { people: [{ phone: PHONE, name: PERSON }] });
		// Today in the time zone of n8n, or tomorrow if the test runs at midnight.
		const days = [0, 1].map((ahead) =>
			DateTime.now().setZone('America/New_York').plus({ days: ahead }),
		);
		const texts = days.map((day) => hashOf(calledText(periodAt(day, 'day'), 0, `91${PHONE}`)));
		expect(texts).toContain(storedHashes(workflow).get('')?.[0]);
	});
});
