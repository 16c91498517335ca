/** What a model reads when a tool fails: each action of this package as a tool, against each response that fails. */
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { z } from 'zod';
import { isJsonObject } from '../../nodes/shared/json';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { TOOL_LIMITS } from '../../nodes/shared/n8n/tools/toolDeadline';
import { credentialFor } from '../contract/credentialFor';
import { engineHarness, engineTool, HOST, output, runNode } from '../engine';
import { skipSleeps } from '../engine/time';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { SCENES, TRIGGER_URL, type Scene } from './parameters/scenes';

const harness = engineHarness();
let simulator: Simulator;

beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain });
});
beforeEach(() => {
	skipSleeps();
	jest.replaceProperty(TOOL_LIMITS, 'waitMs', 1_000);
	jest.replaceProperty(TOOL_LIMITS, 'ackMs', 1_000);
});
afterEach(() => {
	jest.restoreAllMocks();
	nock.cleanAll();
});
afterAll(async () => await simulator.stop());

type Failing = [status: number, body: string | IDataObject, headers?: Record<string, string>];

const rejection = (error: string, more: IDataObject = {}) => ({ success: false, error, ...more });

/** By what happens. */
const RESPONSES: { [what: string]: Failing | { code: string } } = {
	'too many requests': [429, ''],
	'too many requests, with a time to wait': [429, '', { 'retry-after': '7' }],
	'a gateway without a service': [503, 'unavailable'],
	'a crash of the service': [500, rejection('Internal server error')],
	'a wrong token': [401, rejection('Invalid API token')],
	'a firewall': [403, '<html>forbidden</html>'],
	'an agent of another account': [
		403,
		rejection('Agent not found or not associated with this account'),
	],
	'an unknown agent': [404, rejection('agent_not_found')],
	'an unknown call': [404, rejection('call_not_found')],
	'no recording': [404, rejection('recording_not_available')],
	'an unknown campaign': [404, rejection("Couldn't find Campaign")],
	'a number that is not listed': [404, rejection('Phone number not found on DND list')],
	'a missing number': [422, rejection('phone is missing')],
	'a closed session': [409, rejection('session_closed')],
	'an archived campaign': [409, rejection('Campaign is archived')],
	'a rejected field': [422, { success: false, errors: ['message is too long'] }],
	'a contact that is rejected': [400, rejection('contacts[0].phone is invalid')],
	'no post-call analysis': [
		400,
		rejection('webhook_url is set but post_call_analysis is not enabled on this agent'),
	],
	'no outbound number': [
		400,
		rejection('Attach a number', { details: { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED' } }),
	],
	'a rejection of the chat engine': [
		409,
		rejection('tell', { upstream_body: { state: 'rejected', reason: 'unknown_command' } }),
	],
	'a chat that a person has taken over': [
		409,
		rejection('tell', {
			upstream_body: { state: 'rejected', reason: 'tell_not_allowed_during_takeover' },
		}),
	],
	'a redirect': [308, '', { location: 'https://elsewhere.example.com/' }],
	'a web page': [200, '<html>Sign in</html>'],
	'an empty success': [200, ''],
	'a connection that is refused': { code: 'ECONNREFUSED' },
	'a connection that breaks': { code: 'ECONNRESET' },
	'a certificate that is not trusted': { code: 'CERT_HAS_EXPIRED' },
};

const operationOf = ({ node, parameters: { operation } }: Scene) =>
	typeof operation === 'string' ? `${node} › ${operation}` : node;

/** They change nothing, whatever becomes of them. */
const READS =
	/^(agents|campaignStatus|getCall|dnd › (check|checkMany|getMany)|chatSession › waitForEvent)/;

/** What only a person at n8n's screen can do or see. */
const ON_SCREEN =
	/\b(turn\w* (it |them )?(on|off)|this item|drag|options?|menu|field|n8n|workflow|credential|expression|execution|node|switch|column|Base URL|API [Mm]apping|API token|Take Over|Send Via)\b|[→›]/i;
const FORBIDS = /\bdo not (ask|read)\b|may have been done/i;
const OWNER = 'the person who set up this tool';

const scenes = SCENES.filter(({ items = [] }) => !items.some(({ binary }) => binary !== undefined));

const toolWords = z.object({
	outcome: z.string(),
	what_happened: z.string(),
	next_step: z.string(),
});
type ToolWords = z.infer<typeof toolWords>;

function respondTo(failing: Failing | { code: string }): void {
	for (const origin of [HOST, new URL(TRIGGER_URL).origin]) {
		for (const method of ['GET', 'POST', 'DELETE']) {
			const any = nock(origin).persist().intercept(/.*/, method);
			if (Array.isArray(failing)) {
				const [status, body, headers] = failing;
				any.reply(status, body, headers);
			} else any.replyWithError(Object.assign(new Error(failing.code), failing));
		}
	}
}

async function nodeOf({ node, parameters }: Scene, suffix = ''): Promise<INode> {
	const details = { ...credentialFor(simulator), baseUrl: HOST };
	return harness.node(`${node}${suffix}`, {
		parameters,
		credentials: { [CREDENTIAL]: await harness.addCredential(details) },
	});
}

async function answerTo(scene: Scene, failing: Failing | { code: string }): Promise<ToolWords> {
	respondTo(failing);
	const node = await nodeOf(scene);
	const row = scene.items?.[0]?.json ?? {};
	const answer = await engineTool(harness.credentials, node, { row })();
	nock.cleanAll();
	return toolWords.parse(answer);
}

/** What is wrong with such words; nothing if all is well. */
function faultsIn(scene: Scene, answer: ToolWords, failing: Failing | { code: string }) {
	const { outcome, what_happened: happened, next_step: next } = answer;
	const words = `${happened} ${next}`;
	const isRead = READS.test(operationOf(scene));
	const isTooMany = Array.isArray(failing) && failing[0] === 429;
	// A live connection gives up after several attempts, each with a cause of its own.
	const isConnecting = /does not hold|not connected/.test(happened);
	const waits = isTooMany && failing[2]?.['retry-after'] !== undefined && !isConnecting;
	return [
		ON_SCREEN.test(next) && 'advice for the screen',
		/It is done/.test(words) && 'says that it is done',
		/\bthe person\b/i.test(words.replaceAll(OWNER, '')) && 'an unclear person',
		isRead && FORBIDS.test(words) && 'forbids a read',
		isRead && outcome === 'unknown' && 'a read of unknown outcome',
		isTooMany && !/\bwait\b/i.test(next) && 'no pause',
		waits && !words.includes('7 seconds') && 'not how long to pause',
		isTooMany && words.includes(OWNER) && 'blames the owner',
		next.trim().length < 10 && 'nothing to do',
	].filter((fault) => fault !== false);
}

const SUCCEEDS = ['done', 'already_done', 'partly_done', 'timed_out'];

test.each(Object.entries(RESPONSES))(
	'%s',
	async (_what, failing) => {
		const faults: unknown[] = [];
		let failed = 0;
		for (const scene of scenes) {
			const answer = await answerTo(scene, failing);
			if (SUCCEEDS.includes(answer.outcome)) continue;
			failed++;
			const found = faultsIn(scene, answer, failing);
			const { what_happened: happened, next_step: next, outcome } = answer;
			if (found.length > 0)
				faults.push({ tool: operationOf(scene), outcome, found, happened, next });
		}
		expect(faults).toEqual([]);
		expect(failed).toBeGreaterThan(scenes.length / 2);
	},
	120_000,
);

test('each read of the package is among them', () => {
	expect(scenes.filter((scene) => READS.test(operationOf(scene))).length).toBeGreaterThan(10);
	expect(isJsonObject(scenes[0]?.parameters)).toBe(true);
});

describe('as human review, whose words n8n hands to the model', () => {
	const asking = scenes.filter(({ parameters: { operation } }) => operation === 'sendAndWait');

	/** Told with what happened, in which a setting may be named. */
	const ADVICE =
		/\b(turn\w* (it |them )?(on|off)|this item|drag|menu|workflow|credential|expression|execution|node)\b|Base URL|in the Agent field|[→›]/;

	async function review(scene: Scene): Promise<unknown> {
		const node = await nodeOf(scene, 'HitlTool');
		const wish = { tool: 'Refund', toolParameters: {} };
		const run = await runNode(harness.credentials, node, [{ json: wish }]);
		const [item] = output(run, node.name);
		const { data } = item?.json ?? {};
		return isJsonObject(data) && data.approved === false ? data.chatInput : undefined;
	}

	/** What the person set up wrongly, and no model can change. */
	const SETTINGS: { [what: string]: INodeParameters } = {
		'a number that is none': { phoneNumber: 'home' },
		'no country': { countryCode: '={{ "" }}' },
		'no agent': { agentUuid: { __rl: true, mode: 'id', value: '={{ "" }}' } },
		'no yes': { yesValues: '={{ "" }}' },
		'an option without a value': { options: { wait: {} } },
	};

	test.each(Object.entries(SETTINGS))('%s', async (_what, parameters) => {
		for (const scene of asking) {
			const told = await review({
				...scene,
				parameters: { ...scene.parameters, ...parameters },
			});
			expect(told).toEqual(expect.stringContaining('The answer is unknown.'));
			expect(told).not.toMatch(ADVICE);
		}
	});

	test.each(Object.entries(RESPONSES))('%s', async (_what, failing) => {
		expect(asking.length).toBeGreaterThan(0);
		for (const scene of asking) {
			respondTo(failing);
			const told = await review(scene);
			nock.cleanAll();
			expect(told).toEqual(expect.stringContaining('The answer is unknown.'));
			expect(told).not.toMatch(ADVICE);
		}
	});
});
