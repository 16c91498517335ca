import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import type { Simulator } from '../simulator';
import { callListDetails } from './callListDetails';
import { dndDetails } from './dndDetails';

/** A credential for a simulator, with every open detail as its dialect settles it. */
export function credentialFor({
	baseUrl,
	token,
	dialect,
}: Pick<Simulator, 'baseUrl' | 'token' | 'dialect'>): ICredentialDataDecryptedObject {
	return { baseUrl, apiToken: token, ...dndDetails(dialect), ...callListDetails(dialect) };
}
