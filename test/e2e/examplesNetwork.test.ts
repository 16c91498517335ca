import { N8nDriver } from '../n8n/driver';
import { ThirdParties } from '../n8n/thirdParties';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { removeWorkflow } from './calls';
import { sharedN8n } from './shared';

describe('the network of the examples', () => {
	it('reaches only simulated hosts, and records other requested hosts', async () => {
		const { baseUrl, thirdParties } = sharedN8n();
		const n8n = await N8nDriver.signIn(baseUrl);
		const parties = await ThirdParties.start(thirdParties);
		try {
			const request = (url: string) => node('Ask', 'n8n-nodes-base.httpRequest', 4.2, { url });
			const outcome = async (url: string) => {
				const workflow = await n8n.createWorkflow(chain(url, manualTrigger(), request(url)));
				const { status } = await n8n.runManually(workflow, 'Start');
				await removeWorkflow(n8n, workflow);
				return status;
			};
			expect(await outcome('https://api.hubapi.com/contacts/v1/contact/vid/1/profile')).toBe(
				'success',
			);
			expect(parties.rejected).toEqual([]);
			expect(await outcome('https://example.com/')).toBe('error');
			expect(await outcome('http://example.org/')).toBe('error');
			expect(parties.rejected).toEqual(['example.com', 'http://example.org/']);
		} finally {
			await parties.stop();
		}
	});
});
