import type { IHookFunctions } from 'n8n-workflow';

/** For addresses that the service learns from a person or from a request: nothing is registered there. */
export const nothingToRegister = {
	async checkExists(this: IHookFunctions): Promise<boolean> {
		return true;
	},
	async create(this: IHookFunctions): Promise<boolean> {
		return true;
	},
	async delete(this: IHookFunctions): Promise<boolean> {
		return true;
	},
};
