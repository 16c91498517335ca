import type { INode, INodeParameters, NodeParameterValueType } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { activate, engineHarness, makeWorkflow, skipSleeps } from '../engine';

const harness = engineHarness();

beforeEach(skipSleeps);
afterEach(() => jest.restoreAllMocks());

const TRIGGERS: Array<[string, (secret: NodeParameterValueType) => INodeParameters]> = [
	['chatEventsTrigger', (watchSecret) => ({ sessions: 'watched', watchSecret })],
	['chatDeliveryTrigger', (secret) => ({ secret })],
];

async function nodeOf(type: string, parameters: INodeParameters): Promise<INode> {
	const data = { baseUrl: 'https://x.example', apiToken: 'a'.repeat(16) };
	const credentials = { [CREDENTIAL]: await harness.addCredential(data) };
	return harness.node(type, { id: type, parameters, credentials });
}

describe.each(TRIGGERS)('%s', (type, parameters) => {
	test.each([
		['={{ null }}', "'Secret' must be text, but its expression returned nothing"],
		['=open-{{ $vars.x }}', "'Secret' must be text, but its expression returned nothing"],
		['  ', "'Secret' must be text (got an empty text)"],
	])('is not published with the secret %j', async (secret, message) => {
		const workflow = makeWorkflow([await nodeOf(type, parameters(secret))]);
		await expect(activate(harness.credentials, workflow)).rejects.toMatchObject({
			message: expect.stringContaining(message),
		});
	});
});

test.each([
	[{ sessions: 'watched', watchSecret: '' }, /'Secret' is empty|Secret.* is required/],
	[{ sessions: 'watched', watchSecret: 'sésame' }, /'Secret' can only have ASCII characters/],
	// n8n then drops the secret.
	[{ sessions: '={{ "watched" }}', watchSecret: 'x' }, /'Sessions' can't be an expression/],
])('Chat Events Trigger is not published with %j', async (parameters, message) => {
	const node = await nodeOf('chatEventsTrigger', parameters);
	await expect(activate(harness.credentials, makeWorkflow([node]))).rejects.toMatchObject({
		message: expect.stringMatching(message),
	});
});
