import type { INode, INodeParameters, NodeParameterValueType } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import {
	activate,
	engineHarness,
	makeWorkflow,
	nodeTypes,
	webhookContext,
	type ActiveWorkflow,
	skipSleeps,
} from '../engine';

const harness = engineHarness();
let active: ActiveWorkflow | undefined;

beforeEach(skipSleeps);
afterEach(async () => {
	await active?.stop();
	active = undefined;
	jest.restoreAllMocks();
});

const watching = (watchSecret: NodeParameterValueType) => ({ sessions: 'watched', watchSecret });
const TRIGGERS: Array<[string, (secret: NodeParameterValueType) => INodeParameters]> = [
	['chatEventsTrigger', watching],
	['chatDeliveryTrigger', (secret) => ({ secret })],
];

async function nodeOf(type: string, parameters: INodeParameters): Promise<INode> {
	const data = { baseUrl: 'https://x.example', apiToken: 'a'.repeat(16) };
	const credentials = { [CREDENTIAL]: await harness.addCredential(data) };
	return harness.node(type, { id: type, parameters, credentials });
}

const UNUSABLE: Array<[NodeParameterValueType, string]> = [
	['={{ null }}', "'Secret' must be text, but its expression returned nothing"],
	['={{ "" }}', "'Secret' must be text, but its expression returned an empty text"],
	['={{ [1] }}', "'Secret' must be text, but its expression returned a list"],
	['={{ $now }}', "'Secret' must be text, but its expression returned a date"],
	['={{ true }}', "'Secret' must be text, but its expression returned a boolean"],
	['={{ NaN }}', "'Secret' must be text, but its expression returned a number that isn't exact"],
	['={{ $("Nowhere").first().json.a }}', "n8n can't evaluate the expression of 'Secret'"],
	['  ', "'Secret' must be text (got an empty text)"],
];

describe.each(TRIGGERS)('%s', (type, parameters) => {
	test.each(UNUSABLE)('is not published with the secret %j', async (secret, message) => {
		const workflow = makeWorkflow([await nodeOf(type, parameters(secret))]);
		await expect(activate(harness.credentials, workflow)).rejects.toMatchObject({
			message: expect.stringContaining(message),
		});
	});

	test.each([[12345], ['sesame'], ['={{ 12345 }}']])('is published with %j', async (secret) => {
		const workflow = makeWorkflow([await nodeOf(type, parameters(secret))]);
		active = await activate(harness.credentials, workflow);
		expect(active.failed).toEqual([]);
	});
});

describe('Chat Events Trigger', () => {
	const type = 'chatEventsTrigger';

	test('is not published without a secret', async () => {
		const workflow = makeWorkflow([await nodeOf(type, watching(''))]);
		await expect(activate(harness.credentials, workflow)).rejects.toMatchObject({
			message: expect.stringMatching(/'Secret' is empty|Secret.* is required/),
		});
	});

	test('rejects all requests if the expression of its secret later returns nothing', async () => {
		active = await activate(
			harness.credentials,
			makeWorkflow([await nodeOf(type, watching('sesame'))]),
		);
		const node = await nodeOf(type, watching('={{ null }}'));
		const request = { headers: { 'x-watch-secret': 'sesame' } };
		const workflow = makeWorkflow([node]);
		const { context, response } = webhookContext(harness.credentials, workflow, node, request);
		await nodeTypes.getByNameAndVersion(node.type).webhook?.call(context);
		expect(response.statusCode).toBe(503);
		expect(active.failed).toEqual([]);
	});
});

test('does not publish a trigger with a secret that does not fit into a header', async () => {
	const node = await nodeOf('chatEventsTrigger', { sessions: 'watched', watchSecret: 'sésame' });
	await expect(activate(harness.credentials, makeWorkflow([node]))).rejects.toMatchObject({
		message: expect.stringContaining("'Secret' can only have ASCII characters"),
	});
});

test('does not publish a trigger with Sessions as an expression, because n8n then drops the secret', async () => {
	const node = await nodeOf('chatEventsTrigger', {
		sessions: '={{ "watched" }}',
		watchSecret: 'x',
	});
	await expect(activate(harness.credentials, makeWorkflow([node]))).rejects.toMatchObject({
		message: expect.stringContaining("'Sessions' can't be an expression"),
	});
});
