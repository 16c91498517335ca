import {
	ICredentialsHelper,
	NodeHelpers,
	type ICredentialDataDecryptedObject,
	type ICredentials,
	type ICredentialType,
	type IHttpRequestOptions,
	type INodeCredentialsDetails,
	type INodeParameters,
	type INodeProperties,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { z } from 'zod';
import { loader } from './sourceLoader';
import { isObject } from './isObject';

/** A stand-in for n8n's credentials helper, which doesn't encrypt. */
class TestCredentialsHelper extends ICredentialsHelper {
	private readonly stored = new Map<string, ICredentialDataDecryptedObject>();

	/** Number of reads, because a node reads its credential once per run. */
	reads = 0;

	async add(
		type: string,
		data: ICredentialDataDecryptedObject,
		id = `${type}-${this.stored.size + 1}`,
	): Promise<INodeCredentialsDetails> {
		const properties = this.getCredentialsProperties(type);
		// As in n8n, nodes don't get fields that the form hides.
		const form = z.custom<INodeParameters>(isObject).parse(data);
		const shown = NodeHelpers.getNodeParameters(properties, form, true, false, null, null);
		this.stored.set(id, z.custom<ICredentialDataDecryptedObject>(isObject).parse(shown ?? {}));
		return await Promise.resolve({ id, name: id });
	}

	getParentTypes(name: string): string[] {
		return [this.type(name).extends ?? []].flat();
	}

	isCredentialUsableByNode(): boolean {
		return true;
	}

	getCredentialsProperties(name: string): INodeProperties[] {
		return this.type(name).properties;
	}

	async getCredentials(): Promise<ICredentials> {
		throw new Error('not used by n8n-core');
	}

	async getDecrypted(
		_additionalData: IWorkflowExecuteAdditionalData,
		{ id }: INodeCredentialsDetails,
	): Promise<ICredentialDataDecryptedObject> {
		this.reads++;
		const data = this.stored.get(id ?? '');
		if (data === undefined) throw new Error(`no credential ${String(id)}`);
		return await Promise.resolve({ ...data });
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.type(typeName);
		if (typeof authenticate !== 'function') throw new Error('not used by this package');
		return await authenticate.call(this.type(typeName), credentials, request);
	}

	async preAuthentication(): Promise<undefined> {}

	async runPreAuthentication(): Promise<undefined> {}

	async updateCredentials(): Promise<void> {}

	async updateCredentialsOauthTokenData(): Promise<void> {}

	private type(name: string): ICredentialType {
		return loader.getCredential(name).type;
	}
}

/** The credentials of a test file. */
export const storedCredentials = new TestCredentialsHelper();
