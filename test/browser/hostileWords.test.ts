import { PACKAGE } from '../e2e/calls';
import { credentialType } from '../n8n/examples';
import { byId, chain, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { withOpenNode } from './inEditor';

const NODE = 'Campaign Status';
const WORDS = '<a href="https://evil.example">Sign in again</a> <b>now</b>\u001b[31m';

describe('a rejection with HTML', () => {
	const { service, editor } = withOpenNode(NODE, ({ account }) => {
		const credentials = { [credentialType]: account.credential };
		const parameters = { campaignId: byId(fixtures.campaigns.active) };
		const status = node(NODE, `${PACKAGE}.campaignStatus`, 1, parameters, { credentials });
		return chain('hostile words', manualTrigger(), status);
	});

	it('is shown as text, without a link', async () => {
		const body = { success: false, error: WORDS };
		service().faults.inject({ kind: 'status', status: 422, body });
		await editor().execute();
		await editor().readOutput('‹a href="https://evil.example">Sign in again‹/a> ‹b>now‹/b>[31m');
		const panel = editor().page.getByTestId('output-panel');
		expect(await panel.locator('a', { hasText: 'Sign in again' }).count()).toBe(0);
	});
});
