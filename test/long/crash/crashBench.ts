import { randomUUID } from 'node:crypto';
import type { IConnections, INode, INodeExecutionData } from 'n8n-workflow';
import { Account } from '../../e2e/account';
import type { Execution, N8nDriver } from '../../n8n/driver';
import type { N8nServer } from '../../n8n/server';
import { until } from '../../n8n/until';
import { node, webhook, type WorkflowJson } from '../../n8n/workflow';
import { fixtures, type Simulator } from '../../simulator';
import { arrange, CALLER, type Arrangement } from './arrangements';
import { ITEMS, itemsOf, nodeOf, questionOf, received, type Item, type Writer } from './writers';

/** The service never responds to the request of the sixth item. */
const SIX_SENT = '11111100';
const ALL_SENT = '1'.repeat(ITEMS);

/** A writer in an execution that is about to be interrupted. */
export type Scene = {
	writer: Writer;
	arrangement: Arrangement;
	items: Item[];
	execution: Execution;
	/** The requests that the service has received so far. */
	before: string;
};

/** The result after a retry of the execution. */
export type RetryResult = {
	writer: string;
	before: string;
	after: string;
	/** The result of each output item: `d` done, `u` reported as unknown, `n` reported as not sent, `-` anything else. */
	output: string;
};

/** n8n rejects the retry, or the retry doesn't reach the node, because n8n didn't store the node's input. */
export const NO_RETRY = 'no retry';

/** Workflow settings. */
type Settings = Record<string, unknown>;

/** The version of the workflow that a retry runs. */
type WorkflowVersion = 'original' | 'current';

/** A real n8n in which executions are interrupted, and a service that counts the requests. */
export class CrashBench {
	private started = 0;

	private readonly account: Account;
	readonly n8n: N8nDriver;
	readonly simulator: Simulator;

	private constructor(private readonly server: N8nServer) {
		this.account = new Account({ n8nUrl: server.baseUrl, isMapped: true });
		({ n8n: this.n8n, simulator: this.simulator } = this.account);
	}

	static async start(server: N8nServer): Promise<CrashBench> {
		const bench = new CrashBench(server);
		await bench.account.open();
		return bench;
	}

	/** Starts n8n again after it has ended. */
	async boot(): Promise<void> {
		await this.server.boot();
		await this.n8n.signIn();
	}

	/** Starts a writer, and returns when one of its requests hangs. */
	async hangInWriter(
		writer: Writer,
		rest: Partial<INode> = {},
		arrangement: Arrangement = 'straight',
		settings: Settings = {},
	): Promise<Scene> {
		const { request } = writer;
		if (request === undefined) throw new Error(`${writer.name} sends no HTTP request`);
		const before = writer.isOneRequest === true ? ALL_SENT : SIX_SENT;
		const skip = writer.isOneRequest === true ? 0 : SIX_SENT.lastIndexOf('1');
		const hang = { kind: 'hang', afterHandling: true, match: request, skip, times: 1 } as const;
		this.simulator.faults.inject(hang);
		const publish = async (json: WorkflowJson) => (await this.account.publish(json)).id;
		const own = nodeOf(writer, this.account.credentials, rest);
		const { nodes, connections } = await arrange(arrangement, own, publish);
		const [first = own, ...others] = nodes;
		const { items, execution } = await this.execute([first], settings, others, connections);
		await until(
			`${writer.name} to send its requests`,
			() => received(this.simulator, writer, items) === before,
			{ timeout: 60_000 },
		);
		return { writer, arrangement, items, execution, before };
	}

	/** Runs writers one after another in one execution, which then waits for a response that never comes. */
	async hangAfterWriters(
		writers: readonly Writer[],
		rest: Partial<INode> = {},
		settings: Settings = {},
	): Promise<Scene[]> {
		const { baseUrl, token } = this.simulator;
		const later = node('Later', 'n8n-nodes-base.httpRequest', 4.2, {
			url: `${baseUrl}/v1/active_agents`,
			sendHeaders: true,
			headerParameters: { parameters: [{ name: 'API-Token', value: token }] },
		});
		const match = { method: 'GET', path: '/v1/active_agents' };
		const reads = () => this.simulator.requests.filter(({ path }) => path === match.path).length;
		const readsBefore = reads();
		this.simulator.faults.inject({ kind: 'hang', match, times: 1 });
		const nodes = writers.map((writer) => nodeOf(writer, this.account.credentials, rest));
		const nodesAndLast = [...nodes, { ...later, executeOnce: true }];
		const { items, execution } = await this.execute(nodesAndLast, settings);
		await until('the execution to reach its last node', () => reads() > readsBefore, {
			timeout: 60_000,
		});
		return writers.map((writer) => {
			const before = received(this.simulator, writer, items);
			return { writer, arrangement: 'straight', items, execution, before };
		});
	}

	/** Retries the execution of a writer. */
	async retryScene(scene: Scene, which: WorkflowVersion = 'original'): Promise<RetryResult> {
		const [resultOf] = await this.retryScenes([scene], which);
		if (resultOf === undefined) throw new Error('no verdict');
		return resultOf;
	}

	/** Retries the execution of several writers. */
	async retryScenes(
		scenes: readonly Scene[],
		which: WorkflowVersion = 'original',
	): Promise<RetryResult[]> {
		const [scene] = scenes;
		if (scene === undefined) return [];
		const retried = await this.retry(scene.execution, which).catch(() => undefined);
		return await Promise.all(scenes.map(async (each) => await this.verdict(each, retried)));
	}

	/** *Retry* of an execution that has ended, or that n8n marks as ended after its start. */
	private async retry({ id }: Execution, which: WorkflowVersion): Promise<Execution> {
		const ended = async () => {
			const { status } = await this.n8n.execution(id);
			return !['new', 'running'].includes(status);
		};
		await until('the execution to be marked as ended', ended, { timeout: 60_000 });
		return await this.n8n.retry(id, which);
	}

	private async verdict(
		{ writer, arrangement, items, before }: Scene,
		retried: Execution | undefined,
	): Promise<RetryResult> {
		const after = received(this.simulator, writer, items);
		const name = arrangement === 'straight' ? writer.name : `${writer.name}, ${arrangement}`;
		const { runData = {} } = retried === undefined ? {} : await this.n8n.runData(retried.id);
		const runs = runData[writer.name] ?? runData[CALLER];
		if (runs === undefined) return { writer: name, before, after, output: NO_RETRY };
		const returned = runs.flatMap((run) => run.data?.main ?? []).flat();
		const output = returned
			.flatMap((item) => (item === null || isRecoveryItem(item) ? [] : kindOf(item)))
			.join('');
		return { writer: name, before, after, output };
	}

	/** Runs Webhook → items → `nodes`, each on its own branch, from top to bottom, and the `others` after them. */
	private async execute(
		nodes: INode[],
		settings: Settings,
		others: INode[] = [],
		between: IConnections = {},
	): Promise<{ items: Item[]; execution: Execution }> {
		const items = itemsOf(++this.started);
		this.addToService(items);
		const path = randomUUID();
		const split = node('Items', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.items' });
		const branches = nodes.map((each, index) => ({ ...each, position: at(2, index) }));
		const connections: IConnections = {
			Webhook: { main: [[to(split)]] },
			[split.name]: { main: [nodes.map(to)] },
			...between,
		};
		const start = webhook(path, { responseMode: 'onReceived' });
		const workflow = await this.account.publish({
			name: `crash ${path}`,
			nodes: [start, { ...split, position: at(1, 0) }, ...branches, ...others],
			connections,
			settings,
		});
		await this.n8n.webhook(path, { items });
		const execution = await until('the execution', async () => {
			const [first] = await this.n8n.executions(workflow);
			return first;
		});
		return { items, execution };
	}

	/** Adds sessions and an interactive message for each item, and its number to the do-not-disturb list of an agent that places no calls here. */
	private addToService(items: readonly Item[]): void {
		const { state } = this.simulator;
		const [entry] = state.dnd;
		const [session] = state.sessions.values();
		if (entry === undefined || session === undefined) throw new Error('The simulator is empty');
		for (const item of items) {
			const { phone, session: own, legacySession } = item;
			const agentUuid = fixtures.agents.us;
			state.dnd.push({ ...entry, id: state.nextId(), agentUuid, phone: `+91${phone}` });
			for (const sessionId of [own, legacySession])
				state.sessions.set(sessionId, { ...structuredClone(session), sessionId });
			const id = questionOf(item);
			const { interactions } = this.simulator.sessions.get(fixtures.sessions.open);
			interactions.set(id, { id, options: ['yes'], answered: false });
		}
	}
}

const to = ({ name }: INode) => ({ node: name, type: 'main' as const, index: 0 });

function at(column: number, row: number): [x: number, y: number] {
	return [200 * column, 200 * row];
}

/** After a kill, n8n replaces the output of a node by an item of its own. */
function isRecoveryItem({ json }: INodeExecutionData): boolean {
	return json.isArtificialRecoveredEventItem === true;
}

function kindOf({ json }: INodeExecutionData): string {
	const text = JSON.stringify(json);
	const { error, push_status: status = 'pushed' } = json;
	if (error === undefined && status === 'pushed') return 'd';
	if (/"(outcome|push_status)":"(notSent|not_sent)"/.test(text)) return 'n';
	return /"(outcome|push_status)":"unknown"/.test(text) ? 'u' : '-';
}
