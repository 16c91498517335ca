import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import type { Simulator } from '../simulator';
import { profileOf } from '../simulator/dialects/profile';

/** A credential for the simulated service. */
export function credentialFor({
	baseUrl,
	token,
	dialect,
}: Pick<Simulator, 'baseUrl' | 'token' | 'dialect'>): ICredentialDataDecryptedObject {
	const serviceProfile = JSON.stringify(profileOf(dialect), null, 2);
	return { baseUrl, apiToken: token, moreSettings: true, serviceProfile };
}
