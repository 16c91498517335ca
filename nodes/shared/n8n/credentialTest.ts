import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { ExplainedError, ServiceRefusal } from '../service/core/explained';
import type { Transport } from '../service/core/http';
import { getActiveAgents } from '../service/endpoints';
import { Service } from '../service/core/service';
import { clock } from './connect';
import { readServiceAccess, type ServiceAccess } from './credential';
import { toFault, toWireAnswer } from './transport';

const TEST_TIMEOUT_MS = 15_000;
const ACCEPTED: INodeCredentialTestResult = {
	status: 'OK',
	message: 'The service accepts the API token',
};

/** The credential's test: an answer of the service other than a refused token means "accepted". */
export async function voiceChatAgentApiTest(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const ask = async () => {
		const service = new Service(transportFor(this, readServiceAccess(data)), clock, Math.random);
		await getActiveAgents(service);
		return ACCEPTED;
	};
	return await ask().catch(judge);
}

function judge(error: unknown): INodeCredentialTestResult {
	if (error instanceof ServiceRefusal && isServiceAnswer(error)) return ACCEPTED;
	if (!(error instanceof ExplainedError)) throw error;
	return { status: 'Error', message: `${error.message}. ${error.todo}` };
}

/** A refusal in the service's own envelope that is not about the token. */
function isServiceAnswer({ refusal }: ServiceRefusal): boolean {
	return refusal.code !== 'invalid_api_token' && refusal.body.success === false;
}

function transportFor(
	{ helpers }: ICredentialTestFunctions,
	{ baseUrl, apiToken }: ServiceAccess,
): Transport {
	// The only HTTP helper that n8n offers to a credential's test takes these older options.
	return async ({ method, path }) => {
		try {
			const response: unknown = await helpers.request({
				method,
				uri: `${baseUrl}${path}`,
				headers: { 'API-Token': apiToken, Accept: 'application/json' },
				simple: false,
				resolveWithFullResponse: true,
				followRedirect: false,
				followAllRedirects: false,
				timeout: TEST_TIMEOUT_MS,
			});
			return toWireAnswer(response);
		} catch (error) {
			throw toFault(error);
		}
	};
}
