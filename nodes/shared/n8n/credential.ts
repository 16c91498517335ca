import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { parseApiToken, parseBaseUrl } from '../api/access';

/** Type name of the credential; users' saved workflows depend on it. */
export const CREDENTIAL = 'voiceChatAgentApiTokenApi';

/** Name under which every node offers the credential's test. */
export const CREDENTIAL_TEST = 'voiceChatAgentApiTest';

export type ServiceAccess = { baseUrl: string; apiToken: string };

/** @throws InvalidInput with the field of the credential that needs mending */
export function readServiceAccess(data: ICredentialDataDecryptedObject): ServiceAccess {
	return {
		baseUrl: parseBaseUrl(typeof data.baseUrl === 'string' ? data.baseUrl : ''),
		apiToken: parseApiToken(typeof data.apiToken === 'string' ? data.apiToken : ''),
	};
}
